// The server as few files: loading three hundred modules one by one would take half of its start-up.
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

export default defineConfig({
  input: {
    main: 'src/server/main.ts',
    index: 'src/server/index.ts',
    store: 'src/store/index.ts',
    'yaml-worker': 'src/http/yaml-worker.ts',
  },
  platform: 'node',
  external: Object.keys(dependencies),
  plugins: [
    {
      // Read beside the bundle when they are needed: the messages of etcd, and the descriptions of types.
      name: 'files',
      generateBundle() {
        const emit = (/** @type {string} */ fileName, /** @type {string} */ file) =>
          this.emitFile({ type: 'asset', fileName, source: readFileSync(file) });
        emit('rpc.proto', 'src/store/etcd/rpc.proto');
        for (const name of readdirSync('src/types/descriptions')) {
          emit(`descriptions/${name}`, `src/types/descriptions/${name}`);
        }
      },
    },
  ],
  output: {
    dir: 'dist/server',
    format: 'esm',
    sourcemap: true,
    cleanDir: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  },
});
