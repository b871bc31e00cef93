import { formats, modelOfDefinitions } from '../../generate/index.ts';
import { writePublic } from '../private-files.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { type GenerateSettings, generateTable } from '../settings/generate-flags.ts';
import { StartError, systemReason } from '../start-error.ts';
import { definitionsOf, fromDefinitions } from './definition-sources.ts';
import { parseSettings, printText, runToEnd } from './run-until-signal.ts';

/** The output of `orch generate --help`. */
const generateHelp = (): string =>
  commandHelp(
    'orch generate types --from=<source,…> [flags]',
    [
      'Generates TypeScript types, zod schemas or a JSON Schema for every served version of the custom resource',
      'definitions in the sources. The output is deterministic.',
    ],
    generateTable.list,
  );

/** Runs `orch generate types`. Exit status 2 for invalid arguments, 1 for definitions that cannot be read. */
async function generate([what, ...args]: readonly string[]): Promise<void> {
  if (what !== 'types') {
    process.stderr.write('orch: generate makes types: orch generate types --from=<source,…> [flags]\n');
    process.exitCode = 2;
    return;
  }
  const settings = await parseSettings('generate', generateTable, args);
  if (settings !== undefined) await runToEnd(() => write(settings));
}

/** @throws StartError */
async function write({ from, kubeconfig, format, out }: GenerateSettings): Promise<void> {
  const sources = await definitionsOf('--from', from, kubeconfig);
  const text = formats[format](fromDefinitions(() => modelOfDefinitions(sources)));
  if (out === undefined) return printText(text);
  try {
    await writePublic(out, text);
  } catch (error) {
    throw new StartError(`--out=${JSON.stringify(out)} cannot be written: ${systemReason(error)}`, error);
  }
}

export const generateCommand: LoadedCommand = { run: generate, help: generateHelp, flags: generateTable.list };
