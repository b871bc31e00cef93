import { loadScript } from '../script.ts';
import type * as Commands from './server-commands.ts';

type Runs = { readonly [command in 'serve' | 'demo' | 'runApiServer']: (args: readonly string[]) => Promise<void> };

/** Loads the commands that run a server; after the start each of them stores its compiled code. */
export function loadServerCommands(): Runs {
  const { exports, storeCode } = loadScript<typeof Commands>('server-commands');
  const started = () => void storeCode();
  return {
    serve: (args) => exports.serve(args, started),
    demo: (args) => exports.demo(args, started),
    runApiServer: (args) => exports.runApiServer(args, started),
  };
}
