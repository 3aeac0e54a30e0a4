// Dark, light, or what the system has.
import { effect, signal } from '@preact/signals';

const KEY = 'preview-theme';
const system = matchMedia('(prefers-color-scheme: light)');

function stored(): 'dark' | 'light' | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'dark' || value === 'light' ? value : null;
  } catch {
    // SecurityError: in a sandboxed frame nothing may be kept.
    return null;
  }
}

export function createTheme() {
  const theme = signal<'dark' | 'light'>(stored() ?? (system.matches ? 'light' : 'dark'));
  system.addEventListener('change', () => {
    if (stored() === null) theme.value = system.matches ? 'light' : 'dark';
  });
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
  });
  const toggle = () => {
    theme.value = theme.value === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // As above.
    }
  };
  return { theme, toggle };
}
export type Theme = ReturnType<typeof createTheme>;
