/** A running command, on a screen. */
import type { RemoteCommand } from '../../client/index.ts';
import type { Screen } from './screen.ts';

/** Shows a command until it ends, and resolves to its exit code. @throws StatusError when the connection is lost */
export async function runOnScreen(command: RemoteCommand, screen: Screen): Promise<number> {
  // The loop below reports a lost connection.
  const unlessLost = (sent: Promise<void>) => void sent.catch(() => {});
  const disconnect = screen.connect({
    onInput: (text) => unlessLost(command.write(text)),
    onResize: ({ columns, rows }) => unlessLost(command.resize(columns, rows)),
  });
  try {
    const { columns, rows } = screen.size();
    unlessLost(command.resize(columns, rows));
    for await (const { data } of command) await screen.write(data);
    return await command.exitCode;
  } finally {
    disconnect();
  }
}
