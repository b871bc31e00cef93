// npm run bench [-- FLAGS]: builds, then measures the budgets.
import { build, run } from './setup.mjs';

build();
process.exit(run('bench', 'bench/run.mjs', process.argv.slice(2)));
