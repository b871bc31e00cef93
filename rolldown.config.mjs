// Bundles the server into few files: loading hundreds of modules one by one would take half of the time that it starts in.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';
import { pageFiles } from './scripts/page-files.mjs';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const external = Object.keys({ ...dependencies, ...optionalDependencies });

/** The entries of the package. */
const entries = {
  index: 'src/server/index.ts',
  testing: 'src/server/harness/index.ts',
  client: 'src/client/library.ts',
};

/** The room of a module, after which its chunk is named. The commands of the room `server` name their own chunks. */
const roomOf = (/** @type {string} */ id) => {
  const room = /[\\/]src[\\/](\w+)[\\/]/.exec(id)?.[1];
  return room === undefined || room === 'server' ? null : room;
};

/** Modules only define what they export: an entry loads those of which it uses something. */
const treeshake = { moduleSideEffects: false };

export const modules = defineConfig({
  input: {
    main: 'src/server/main.ts',
    ...entries,
    store: 'src/store/index.ts',
    generate: 'src/generate/index.ts',
    'yaml-worker': 'src/http/codecs/yaml-worker.ts',
    'controller-worker': 'src/server/controller-thread/entry.ts',
    worker: 'src/server/workers/worker.ts',
  },
  platform: 'node',
  external,
  treeshake,
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    {
      // The bundle reads them on demand: the messages of etcd, and the descriptions of types.
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
    // The bundler appends the entries that load the chunk.
    chunkFileNames: ({ name }) => `${name.split('~')[0]}.js`,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: roomOf, debugName: 'rooms', entriesAware: true }],
    },
  },
});

// For loaders that cannot require ES modules, such as that of jest on most versions of Node. `require` of Node itself gets
// the ES modules by the condition `module-sync`, so that a process has one copy.
const commonJs = defineConfig({
  input: entries,
  platform: 'node',
  external,
  treeshake,
  output: {
    dir: 'dist/server',
    format: 'cjs',
    // The loader of a test runner may not support `import()` either.
    dynamicImportInCjs: false,
    cleanDir: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  },
});

/** Writes characters other than ASCII as escapes, which are the same in texts, templates and regular expressions. */
const ascii = (/** @type {string} */ code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes scripts in ASCII, and the hash of each as its last line: it names their code caches. */
const asciiWithHash = {
  name: 'ascii-with-hash',
  generateBundle(/** @type {unknown} */ _, /** @type {import('rolldown').OutputBundle} */ bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const code = ascii(chunk.code).trimEnd();
      chunk.code = `${code}\n//${createHash('sha256').update(code).digest('hex').slice(0, 32)}\n`;
    }
  },
};

/** The output of scripts with a code cache: see src/server/script.ts. @satisfies {import('rolldown').OutputOptions} */
const scriptOutput = /** @type {const} */ ({
  dir: 'dist/server',
  format: 'cjs',
  postBanner: "(function (exports, require, __filename) { 'use strict';",
  postFooter: '})',
  comments: false,
  dynamicImportInCjs: false,
  cleanDir: false,
  entryFileNames: '[name].script.cjs',
  chunkFileNames: '[name].script.cjs',
});

// What starts a server and its controllers. Its log, of thirty files, is in a script too.
const serverScripts = defineConfig({
  input: {
    'server-commands': 'src/server/commands/server-commands.ts',
    controllers: 'src/server/controller-thread/worker.ts',
  },
  platform: 'node',
  external: external.filter((name) => name !== 'pino'),
  treeshake,
  plugins: [asciiWithHash],
  output: scriptOutput,
});

// The command-line client. Each command reads a kubeconfig, so the YAML library is in the script: as seventy files it would
// take a quarter of the time of a command.
const ctlScript = defineConfig({
  input: { ctl: 'src/server/commands/ctl.ts' },
  platform: 'node',
  external: external.filter((name) => name !== 'yaml'),
  treeshake,
  plugins: [
    {
      name: 'bundled-yaml',
      transform: {
        filter: { id: /[\\/]src[\\/]codec[\\/]yaml\.ts$/ },
        handler(code) {
          const onDemand = "createRequire(import.meta.url)('yaml')";
          if (!code.includes(onDemand)) this.error(`the YAML library is not loaded by ${onDemand}`);
          return code.replace(onDemand, "require('yaml')");
        },
      },
    },
    asciiWithHash,
  ],
  output: scriptOutput,
});

export const scripts = [serverScripts, ctlScript];

// The page of the console. What a view needs alone, such as the editor, is a chunk of its own.
const page = defineConfig({
  input: { console: 'src/console/index.ts' },
  platform: 'browser',
  // Nothing of Node is left once unused code is removed: the plugin checks that.
  external: /^node:/,
  tsconfig: 'src/console/tsconfig.json',
  treeshake: { moduleSideEffects: (id) => id.includes('node_modules') },
  plugins: [
    pageFiles({
      page: 'src/console/index.html',
      icon: 'src/console/icon.svg',
      styles: [
        'node_modules/uplot/dist/uPlot.min.css',
        'node_modules/@xterm/xterm/css/xterm.css',
        'src/console/console.css',
      ],
    }),
  ],
  output: {
    dir: 'dist/console',
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  },
});

export default [modules, commonJs, ...scripts, page];
