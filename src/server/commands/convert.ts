import { prettyJson, stringifyYaml } from '../../codec/index.ts';
import {
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  namesFor,
  StatusError,
  shorten,
  unknownField,
} from '../../meta/index.ts';
import { type ConvertSettings, convertTable } from '../settings/convert-flags.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { StartError } from '../start-error.ts';
import { customKinds, openConversionWebhooks } from './convert-custom.ts';
import { convertManifest, type Kinds, loadKinds } from './convert-manifest.ts';
import { definitionsOf } from './definition-sources.ts';
import { documentsOf, documentsOfStream, filesAt } from './manifest-files.ts';
import { parseSettings, printText, runToEnd } from './run-until-signal.ts';

/** The output of `orch convert --help`. */
const convertHelp = (): string =>
  commandHelp(
    'orch convert -f <file,…> --output-version=<group/version> [flags]',
    [
      'Converts manifests to another version, also from versions that servers do not serve by default, and prints them in',
      'the order of the input. Lists are converted item by item. Built-in kinds need no server; custom kinds need their',
      'definition, and the conversion webhook that it names must be reachable, by its URL or through the server.',
      '',
      'Comments and the layout of YAML are not preserved. Standard error names what may surprise: defaults of the former',
      'version that the new one does not have, and fields that the new version lacks. These are kept in an annotation, by',
      'which a conversion back restores them, or dropped. Objects are checked for their types, not validated.',
      '',
      'Exit status: 0 when all objects are converted, also with warnings; 1 when one cannot be read or converted, and',
      'nothing is printed; 2 for invalid arguments.',
    ],
    convertTable.list,
  );

/** Runs `orch convert`. */
async function convert(args: readonly string[]): Promise<void> {
  const settings = await parseSettings('convert', convertTable, args);
  if (settings === undefined) return;
  await runToEnd(async () => {
    const { text, warnings } = await convertFiles(settings, process.stdin);
    process.stderr.write(warnings.map((warning) => `warning: ${warning}\n`).join(''));
    await printText(text);
  });
}

/** The converted manifests as text, and warnings about them. @throws StartError with a line for each problem */
export async function convertFiles(
  settings: ConvertSettings,
  stdin: AsyncIterable<Uint8Array>,
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const { definitions, kubeconfig } = settings;
  const sources = definitions.length === 0 && kubeconfig !== undefined ? [kubeconfig] : definitions;
  const webhooks = openConversionWebhooks();
  try {
    const custom = customKinds(await definitionsOf('--definitions', sources, kubeconfig), webhooks);
    return await convertAll(settings, await loadKinds(namesFor(settings.apiDomain), custom), stdin);
  } finally {
    webhooks.close();
  }
}

/** @throws StartError with a line for each problem */
async function convertAll(
  { filename, outputVersion = '', output, validate }: ConvertSettings,
  kinds: Kinds,
  stdin: AsyncIterable<Uint8Array>,
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const run: Run = { kinds, outputVersion, validate, warnings: [], problems: [] };
  const texts: string[] = [];
  for (const [file, documents] of await readAll(filename, stdin)) {
    for (const { value, findings } of documents) {
      if (value === null) continue;
      report(run, file, findings);
      const converted = await convertDocument(run, file, value);
      texts.push(output === 'json' ? `${prettyJson(converted)}\n` : stringifyYaml(converted));
    }
  }
  if (run.problems.length > 0) throw new StartError(run.problems.join('\norch: '));
  return { text: texts.join(output === 'json' ? '' : '---\n'), warnings: run.warnings };
}

type Documents = Awaited<ReturnType<typeof documentsOf>>;

/** The documents of each file. @throws StartError */
async function readAll(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<(readonly [file: string, Documents])[]> {
  const read: [string, Documents][] = [];
  for (const path of paths) {
    if (path === '-') read.push(['standard input', await documentsOfStream(stdin, 'standard input')]);
    else for (const file of await filesAt(path, path)) read.push([file, await documentsOf(file)]);
  }
  return read;
}

interface Run {
  readonly kinds: Kinds;
  readonly outputVersion: string;
  readonly validate: ConvertSettings['validate'];
  readonly warnings: string[];
  readonly problems: string[];
}

/** Reports unknown or duplicate fields as the setting `validate` says. */
function report({ validate, warnings, problems }: Run, where: string, findings: readonly string[]): void {
  if (validate === 'ignore') return;
  const reported = validate === 'strict' ? problems : warnings;
  for (const finding of findings) reported.push(`${where}: ${finding}`);
}

/** A converted object, or a list whose items are converted. */
async function convertDocument(run: Run, file: string, value: Json): Promise<Json> {
  if (!isJsonObject(value)) {
    run.problems.push(`${file}: a document is not an object`);
    return value;
  }
  const { kind, apiVersion, items } = value;
  if (!Array.isArray(items) || typeof kind !== 'string' || !kind.endsWith('List')) return convertOne(run, file, value);
  if (kind === 'List') {
    const converted: Json[] = [];
    for (const item of items) converted.push(await convertDocument(run, file, item));
    return { ...value, items: converted };
  }
  const itemType = { kind: kind.slice(0, -'List'.length), ...(apiVersion === undefined ? {} : { apiVersion }) };
  // Items of such a list mostly have no type of their own.
  const converted: Json[] = [];
  for (const item of items) {
    if (!isJsonObject(item)) {
      converted.push(await convertDocument(run, file, item));
      continue;
    }
    const object = await convertOne(run, file, { ...itemType, ...item });
    const shown = Object.entries(object).filter(([key]) => !(key in itemType) || getKey(item, key) !== undefined);
    converted.push(Object.fromEntries(shown));
  }
  return { ...value, apiVersion: run.outputVersion, items: converted };
}

async function convertOne(run: Run, file: string, manifest: JsonObject): Promise<JsonObject> {
  const where = `${file}: ${nameOf(manifest)}`;
  try {
    const { object, unknown, warnings } = await convertManifest(run.kinds, manifest, run.outputVersion);
    report(run, where, unknown.map(unknownField));
    for (const warning of warnings) run.warnings.push(`${where}: ${warning}`);
    return object;
  } catch (error) {
    if (!(error instanceof StartError || error instanceof StatusError)) throw error;
    run.problems.push(`${where}: ${error.message}`);
    return manifest;
  }
}

/** `Deployment/web`. */
function nameOf({ kind, metadata }: JsonObject): string {
  const { name, generateName } = isJsonObject(metadata) ? metadata : {};
  const text = (value: Json | undefined) => (typeof value === 'string' ? shorten(value, 253) : '');
  return `${text(kind) || 'an object'}/${text(name) || text(generateName) || 'without a name'}`;
}

export const convertCommand: LoadedCommand = { run: convert, help: convertHelp, flags: convertTable.list };
