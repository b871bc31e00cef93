import { isJsonObject, type Json } from '../../meta/index.ts';
import { StartError } from '../start-error.ts';
import { type FlagTable, type ListedFlag, variableOf } from './flag.ts';
import { programTable, type ServerSettings } from './flags.ts';
import type { ServerOptions } from './server-options.ts';
import { didYouMean } from './suggest.ts';

/** The sources of settings. */
export interface SettingSources {
  /** The arguments after the command. */
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** Reads the YAML file of `--config`; its errors propagate. */
  readonly readConfig: (path: string) => Promise<Json>;
}

type SettingsResult<S> =
  | { readonly settings: S }
  /** A message for each invalid setting, with its source. */
  | { readonly problems: readonly string[] };

/** The text of a setting, and its source for messages. */
interface LayerValue {
  readonly text: string;
  readonly where: string;
}
type Layer = Map<string, LayerValue>;

type Flags = readonly ListedFlag[];

const byName = (flags: Flags, name: string): ListedFlag | undefined =>
  flags.find((flag) => flag.name === name || flag.aliases?.includes(name));
const namesOf = (flags: Flags): string[] => flags.map(({ name }) => name);

/** The settings of a process. Precedence: command line, environment, file, defaults. */
export async function readSettings<S extends object>(
  table: FlagTable<S>,
  { argv, env, readConfig }: SettingSources,
): Promise<SettingsResult<S>> {
  const problems: string[] = [];
  const { list } = table;
  const layers = await withFile(
    list,
    [readLine(list, argv, problems), readEnvironment(list, env)],
    readConfig,
    problems,
  );
  const settings = mergeLayers(table, layers, problems, ({ name }) => `--${name}`);
  return problems.length > 0 ? { problems } : { settings };
}

/**
 * The settings of an embedded server. Precedence: options, file, defaults. `others` are the names of options that the
 * caller reads. @throws StartError
 */
export async function readOptions(
  options: ServerOptions,
  readConfig: SettingSources['readConfig'],
  others: readonly string[] = [],
): Promise<ServerSettings> {
  const problems: string[] = [];
  const { list } = programTable;
  const layers = await withFile(list, [readProgram(list, options, others, problems)], readConfig, problems);
  const settings = mergeLayers(programTable, layers, problems, ({ key }) => key);
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return settings;
}

/** Appends the layer of the `config` file that one of the layers names. */
async function withFile(
  flags: Flags,
  layers: readonly Layer[],
  readConfig: SettingSources['readConfig'],
  problems: string[],
): Promise<Layer[]> {
  const config = layers.map((layer) => layer.get('config')).find((value) => value !== undefined);
  if (config === undefined) return [...layers];
  return [...layers, readFile(flags, await readConfig(config.text), config.text, problems)];
}

/** Merges the layers, the first one taking precedence; `spell` names a flag in messages. */
function mergeLayers<S extends object>(
  { list, defaults, problemsOf }: FlagTable<S>,
  layers: readonly Layer[],
  problems: string[],
  spell: (flag: ListedFlag) => string,
): S {
  const settings: { [key: string]: unknown } = Object.fromEntries(Object.entries(defaults));
  for (const { key, name, type } of list) {
    const setting = layers.map((layer) => layer.get(name)).find((value) => value !== undefined);
    if (setting === undefined) continue;
    const parsed = type.parse(setting.text);
    if ('value' in parsed) settings[key] = parsed.value;
    else problems.push(`${setting.where}=${JSON.stringify(setting.text)} ${parsed.problem}`);
  }
  const nameOf = (key: string) => spell(list.find((flag) => flag.key === key) as ListedFlag);
  for (const problem of problemsOf(settings as S, nameOf)) problems.push(problem);
  return settings as S;
}

function readLine(flags: Flags, argv: readonly string[], problems: string[]): Layer {
  const layer: Layer = new Map();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const [, name = '', equals, inline = ''] = /^--?([^=]*)(=?)(.*)$/s.exec(argument) ?? [];
    if (!argument.startsWith('-') || name === '') {
      problems.push(`unexpected argument ${JSON.stringify(argument)}: a setting is written --name=value`);
      continue;
    }
    const flag = byName(flags, name);
    const next = argv[i + 1];
    const takesNext = equals === '' && flag?.type.bare !== true && next !== undefined && !next.startsWith('--');
    if (flag === undefined || argument.startsWith('--') === (name.length === 1)) {
      problems.push(`unknown flag ${JSON.stringify(argument.split('=')[0])}${didYouMean(name, namesOf(flags))}`);
      // Probably the value of the unknown flag, which needs no second error.
      if (equals === '' && next !== undefined && !next.startsWith('-')) i++;
      continue;
    }
    if (takesNext) i++;
    const text = takesNext ? next : equals === '=' ? inline : flag.type.bare === true ? 'true' : undefined;
    if (text === undefined) problems.push(`--${name} needs a value: --${name}=<${flag.type.placeholder}>`);
    else add(layer, flag, text);
  }
  return layer;
}

function add(layer: Layer, flag: ListedFlag, text: string): void {
  const before = flag.type.joins === true ? layer.get(flag.name) : undefined;
  layer.set(flag.name, { text: before === undefined ? text : `${before.text},${text}`, where: `--${flag.name}` });
}

function readEnvironment(flags: Flags, env: SettingSources['env']): Layer {
  const layer: Layer = new Map();
  for (const { name } of flags) {
    const text = env[variableOf(name)];
    if (text !== undefined && text !== '') layer.set(name, { text, where: variableOf(name) });
  }
  return layer;
}

function readProgram(flags: Flags, options: ServerOptions, others: readonly string[], problems: string[]): Layer {
  const layer: Layer = new Map();
  if (!isPlainObject(options)) {
    problems.push('the settings must be an object, such as { securePort: 0 }');
    return layer;
  }
  const keys = [...flags.map(({ key }) => key), ...others];
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || others.includes(key)) continue;
    const flag = flags.find((candidate) => candidate.key === key);
    if (flag === undefined) {
      problems.push(`${key} is an unknown setting${didYouMean(key, keys)}`);
      continue;
    }
    const { ofNumber = String } = flag.type;
    const text = typeof value === 'number' ? ofNumber(value) : textOf(flag, value);
    if (text === undefined) problems.push(`${key} ${typeProblem(flag)}`);
    else layer.set(flag.name, { text, where: key });
  }
  return layer;
}

function readFile(flags: Flags, content: Json, path: string, problems: string[]): Layer {
  const layer: Layer = new Map();
  if (content === null) return layer;
  if (!isJsonObject(content)) {
    problems.push(`${path} must hold a map of settings, such as "secure-port: 6443"`);
    return layer;
  }
  for (const [name, value] of Object.entries(content)) {
    const where = `${name} in ${path}`;
    const flag = byName(flags, name);
    if (name === 'config') problems.push(`${where} would name another file: there can be one only`);
    else if (flag === undefined) {
      problems.push(`${where} is an unknown setting${didYouMean(name, namesOf(flags))}`);
    } else {
      const text = textOf(flag, value);
      if (text === undefined) problems.push(`${where} ${typeProblem(flag)}`);
      else layer.set(name, { text, where });
    }
  }
  return layer;
}

/** A value as flag text; undefined when it cannot be expressed. */
function textOf({ type }: ListedFlag, value: unknown): string | undefined {
  if (type.joins !== true) return scalarText(value);
  const texts = Array.isArray(value)
    ? value.map(scalarText)
    : isPlainObject(value)
      ? Object.entries(value).map(([name, item]) => pairText(name, scalarText(item)))
      : [scalarText(value)];
  return texts.includes(undefined) ? undefined : texts.join(',');
}

const typeProblem = ({ type }: ListedFlag): string =>
  type.joins === true
    ? 'must be a text, a number, true or false, a list of these, or a map of them'
    : 'must be a text, a number, true or false';

/** False for a `Map` and other class instances. */
function isPlainObject(value: unknown): value is { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const scalars = ['string', 'number', 'bigint', 'boolean'];
const scalarText = (value: unknown) => (scalars.includes(typeof value) ? String(value) : undefined);

const pairText = (name: string, text: string | undefined) => (text === undefined ? undefined : `${name}=${text}`);
