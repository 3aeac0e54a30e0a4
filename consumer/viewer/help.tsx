// The keys, as a dialog.
import { useEffect, useRef } from 'preact/hooks';
import { KEYS, PICTURE_KEYS } from './keys.js';
import type { State } from './state.js';

export function Help({ state }: { state: State }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const close = () => {
    state.panel.value = null;
  };
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {[...KEYS.map(({ shown, does }) => [shown, does] as const), ...PICTURE_KEYS].map(([shown, does]) => (
          <div key={shown}>
            <dt>
              <kbd>{shown}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      {state.source.leftOut.length > 0 ? (
        <>
          <h2>Left out of this page</h2>
          {state.source.leftOut.map((words) => (
            <p key={words}>{words}</p>
          ))}
        </>
      ) : null}
      <button type="button" class="button" onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  );
}
