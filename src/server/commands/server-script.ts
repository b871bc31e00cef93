import { loadScript } from '../script.ts';
import type * as Commands from './server-commands.ts';

type Runs = { readonly [command in 'serve' | 'demo' | 'runApiServer']: (args: readonly string[]) => Promise<void> };

/** Loads the commands that run a server; after the start each of them stores its compiled code. */
export function loadServerCommands(): Runs {
  const { exports, storeCode } = loadScript<typeof Commands>('server-commands');
  return {
    serve: (args) => exports.serve(args, storeCode),
    demo: (args) => exports.demo(args, storeCode),
    runApiServer: (args) => exports.runApiServer(args, storeCode),
  };
}
