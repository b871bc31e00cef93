// Bundles the project's own simulated world with the sources of the server. The variable DEFECT names a defect of
// `defects.json` that is put into them.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const name = process.env['DEFECT'];
const defect = JSON.parse(readFileSync('test/simulation/defects.json', 'utf8'))[name ?? ''];
if (name !== undefined && defect === undefined) throw new Error(`no defect is called ${name}`);

export default defineConfig({
  // The command, and what a printed program imports.
  input: {
    main: 'test/simulation/main.ts',
    testing: 'src/server/harness/index.ts',
    worlds: 'test/simulation/worlds.ts',
  },
  platform: 'node',
  external: Object.keys({ ...dependencies, ...optionalDependencies }),
  plugins: [
    {
      name: 'defect',
      transform: (code, id) =>
        defect !== undefined && id.replaceAll('\\', '/').endsWith(defect.file)
          ? code.replace(defect.correct, () => defect.wrong)
          : null,
    },
  ],
  output: {
    dir: name === undefined ? 'dist/simulation' : `dist/simulation-${name}`,
    format: 'esm',
    sourcemap: name === undefined,
    chunkFileNames: '[name].js',
  },
});
