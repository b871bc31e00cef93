// The server as few files: loading three hundred modules one by one would take half of its start-up.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

export default defineConfig({
  input: {
    main: 'src/server/main.ts',
    index: 'src/server/index.ts',
    store: 'src/store/index.ts',
    generate: 'src/generate/index.ts',
    'yaml-worker': 'src/http/yaml-worker.ts',
  },
  platform: 'node',
  external: Object.keys(dependencies),
  plugins: [
    {
      // Read beside the bundle when a store over etcd is opened.
      name: 'messages',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'rpc.proto', source: readFileSync('src/store/etcd/rpc.proto') });
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
