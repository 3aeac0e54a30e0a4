// The library's own loader of its native part, which it ships without types.
declare module '@lydell/node-pty/requireBinary.js' {
  export function requireBinary(name: 'pty.node'): {
    open(columns: number, rows: number): { master: number; slave: number; pty: string };
    resize(fd: number, columns: number, rows: number): void;
  };
}
