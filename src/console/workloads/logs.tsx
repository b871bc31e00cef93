/** The log of a container, followed as it grows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { ContainerChoice, containersOf } from './container-choice.tsx';

/** The page keeps the last lines only. */
const maxLines = 5_000;
/** How many lines a log begins with. */
const tailLines = 1_000;

interface Choice {
  readonly container: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

export function Logs({ pod }: { readonly pod: ApiObject }) {
  const containers = containersOf(pod);
  const [choice, setChoice] = useState<Choice>({ container: containers[0] ?? '', previous: false, follow: true });
  const { lines, error, read } = useLog(pod, choice);
  const end = useRef<HTMLElement>(null);
  // The view follows the lines.
  useEffect(() => {
    const element = end.current;
    if (choice.follow && element !== null) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return (
    <div class="text whole">
      <div class="row bar">
        <ContainerChoice
          containers={containers}
          value={choice.container}
          onChoose={(container) => setChoice({ ...choice, container })}
        />
        <label class="row">
          <input
            type="checkbox"
            checked={choice.follow}
            onChange={({ currentTarget }) => setChoice({ ...choice, follow: currentTarget.checked })}
          />
          {t('follow')}
        </label>
        <label class="row">
          <input
            type="checkbox"
            checked={choice.previous}
            onChange={({ currentTarget }) => setChoice({ ...choice, previous: currentTarget.checked })}
          />
          {t('previousLog')}
        </label>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the log scrolls */}
      <section class="log" ref={end} tabIndex={0} aria-label={t('logs')} data-testid="log">
        <pre>{lines.join('\n')}</pre>
        {read && lines.length === 0 && <p class="dim">{t('noLog')}</p>}
      </section>
    </div>
  );
}

interface LogState {
  readonly lines: readonly string[];
  readonly error: unknown;
  /** Whether the log is read to its end, as far as it is not followed. */
  readonly read: boolean;
}

const unread: LogState = { lines: [], error: undefined, read: false };

function useLog({ metadata }: ApiObject, { container, previous, follow }: Choice): LogState {
  const { client } = currentSession();
  const [state, setState] = useState(unread);
  const { name = '', namespace = '' } = metadata;
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let lines: string[] = [];
    let scheduled = false;
    const show = () => {
      scheduled = false;
      if (!signal.aborted) setState((before) => ({ ...before, lines: [...lines] }));
    };
    const read = async () => {
      const log = await client.log({ name, namespace }, { container, previous, follow, tailLines, signal });
      for await (const line of log) {
        lines.push(line);
        if (lines.length > 2 * maxLines) lines = lines.slice(-maxLines);
        if (!scheduled) requestAnimationFrame(show);
        scheduled = true;
      }
    };
    setState(unread);
    read().then(
      () => !signal.aborted && setState((before) => ({ ...before, lines: [...lines], read: true })),
      (error: unknown) => !signal.aborted && setState((before) => ({ ...before, error })),
    );
    return () => stop.abort();
  }, [client, name, namespace, container, previous, follow]);
  return state;
}
