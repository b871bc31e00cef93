/** A terminal in a container. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { ContainerChoice, containersOf } from '../workloads/container-choice.tsx';
import { runOnScreen } from './run-on-screen.ts';
import { openScreen } from './screen.ts';

/** The command and its container. */
interface TerminalCommand {
  readonly container: string;
  /** The program and its arguments, with spaces in between. */
  readonly command: string;
}

type RunState =
  | { readonly phase: 'idle' | 'connecting' | 'running' }
  | { readonly phase: 'ended'; readonly exitCode: number }
  | { readonly phase: 'failed'; readonly error: unknown };

export function TerminalTab({ pod }: { readonly pod: ApiObject & JsonObject }) {
  const containers = containersOf(pod);
  const [choice, setChoice] = useState<TerminalCommand>({ container: containers[0] ?? '', command: '/bin/sh' });
  /** The command that was started last; another object for each start. */
  const [started, setStarted] = useState<TerminalCommand>();
  const place = useRef<HTMLDivElement>(null);
  const state = useRun(pod, started, place);
  const start = (event: SubmitEvent) => {
    event.preventDefault();
    setStarted({ ...choice });
  };
  return (
    <div class="text whole">
      <form class="row bar" onSubmit={start}>
        <ContainerChoice
          containers={containers}
          value={choice.container}
          onChoose={(container) => setChoice({ ...choice, container })}
        />
        <label class="row">
          {t('command')}
          <input
            value={choice.command}
            required
            pattern=".*\S.*"
            spellcheck={false}
            autocapitalize="off"
            onInput={({ currentTarget }) => setChoice({ ...choice, command: currentTarget.value })}
          />
        </label>
        <button type="submit" class="primary">
          {t(started === undefined ? 'connect' : 'reconnect')}
        </button>
        <span class="dim" role="status">
          {state.phase === 'connecting' && t('connecting')}
          {state.phase === 'running' && t('leaveTerminal')}
          {state.phase === 'ended' && t('commandEnded', { code: state.exitCode })}
        </span>
      </form>
      {state.phase === 'failed' && <ErrorNote error={state.error} />}
      <div class="terminal-place" ref={place} data-testid="terminal" />
    </div>
  );
}

/** Runs what was started on a screen of its own in an element, until something else is started or the element is left. */
function useRun(
  { metadata }: ApiObject,
  started: TerminalCommand | undefined,
  place: { readonly current: HTMLElement | null },
): RunState {
  const { client } = currentSession();
  const [state, setState] = useState<RunState>({ phase: 'idle' });
  const { name = '', namespace = '' } = metadata;
  useEffect(() => {
    if (started === undefined || place.current === null) return;
    const stop = new AbortController();
    const screen = openScreen(place.current);
    const show = (next: RunState) => {
      if (!stop.signal.aborted) setState(next);
    };
    const run = async () => {
      const { container } = started;
      const command = started.command.split(/\s+/).filter((word) => word !== '');
      const options = { container, command, stdin: true, tty: true, signal: stop.signal };
      const running = await client.exec({ name, namespace }, options);
      show({ phase: 'running' });
      return runOnScreen(running, screen);
    };
    show({ phase: 'connecting' });
    run().then(
      (exitCode) => show({ phase: 'ended', exitCode }),
      (error: unknown) => show({ phase: 'failed', error }),
    );
    return () => {
      stop.abort();
      screen.close();
    };
  }, [client, name, namespace, started]);
  return state;
}
