// The server as few files: loading three hundred modules one by one would take half of its start-up.
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const external = Object.keys(dependencies);

/** The entries of the package. */
const entries = {
  index: 'src/server/index.ts',
  testing: 'src/server/harness/index.ts',
  client: 'src/client/library.ts',
};

const modules = defineConfig({
  input: {
    main: 'src/server/main.ts',
    ...entries,
    store: 'src/store/index.ts',
    generate: 'src/generate/index.ts',
    'yaml-worker': 'src/http/codecs/yaml-worker.ts',
    'controller-worker': 'src/server/controller-thread/worker.ts',
  },
  platform: 'node',
  external,
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

// For programs whose loader cannot require ES modules, as that of jest on most versions of Node. `require` of Node itself
// gets the ES modules, by the condition `module-sync`: one process has one copy.
const commonJs = defineConfig({
  input: entries,
  platform: 'node',
  external,
  output: {
    dir: 'dist/server',
    format: 'cjs',
    // The loader of a test runner may not know `import()` either.
    dynamicImportInCjs: false,
    cleanDir: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  },
});

export default [modules, commonJs];
