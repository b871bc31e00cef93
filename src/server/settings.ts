import { isJsonObject, type Json } from '../meta/index.ts';
import { defaultSettings, type FlagKey, flagList, type Settings, variableOf } from './flags.ts';
import { didYouMean } from './suggest.ts';

/** Where settings come from. */
export interface SettingSources {
  /** What stands after the command. */
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** Reads the YAML file that `--config` names. Its errors are passed on. */
  readonly readConfig: (path: string) => Promise<Json>;
}

export type SettingsResult =
  | { readonly settings: Settings }
  /** One sentence for each thing that is wrong, each naming where it stands. */
  | { readonly problems: readonly string[] };

/** A text for a setting, and where it stands, as messages say it. */
interface Given {
  readonly text: string;
  readonly where: string;
}
type Layer = Map<string, Given>;

type Listed = (typeof flagList)[number];
const byName = new Map<string, Listed>(flagList.map((flag) => [flag.name, flag]));
const flagNames = [...byName.keys()];

/** Every setting: from the command line, else the environment, else the file, else as the table has it. */
export async function readSettings(sources: SettingSources): Promise<SettingsResult> {
  const problems: string[] = [];
  const line = readLine(sources.argv, problems);
  const environment = readEnvironment(sources.env);
  const given = line.get('config') ?? environment.get('config');
  const file = given === undefined ? new Map() : readFile(await sources.readConfig(given.text), given.text, problems);
  const settings: { [key: string]: unknown } = { ...defaultSettings };
  for (const { key, name, type } of flagList) {
    const found = line.get(name) ?? environment.get(name) ?? file.get(name);
    if (found === undefined) continue;
    const parsed = type.parse(found.text);
    if ('value' in parsed) settings[key] = parsed.value;
    else problems.push(`${found.where}=${JSON.stringify(found.text)} ${parsed.problem}`);
  }
  for (const [cert, key] of pairs) {
    if ((settings[cert] === undefined) === (settings[key] === undefined)) continue;
    problems.push(`--${nameOf(cert)} and --${nameOf(key)} must be given together`);
  }
  const { enableAdmissionPlugins: on, disableAdmissionPlugins: off } = settings as Settings;
  for (const name of on.filter((word) => off.includes(word))) {
    problems.push(`--enable-admission-plugins and --disable-admission-plugins both name ${name}`);
  }
  return problems.length > 0 ? { problems } : { settings: settings as Settings };
}

/** A certificate and its key are nothing without each other. */
const pairs: readonly (readonly [FlagKey, FlagKey])[] = [
  ['tlsCertFile', 'tlsPrivateKeyFile'],
  ['kubeletClientCertificate', 'kubeletClientKey'],
];

const nameOf = (key: FlagKey) => flagList.find((flag) => flag.key === key)?.name;

function readLine(argv: readonly string[], problems: string[]): Layer {
  const layer: Layer = new Map();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const [, name = '', equals, inline = ''] = /^--?([^=]*)(=?)(.*)$/s.exec(argument) ?? [];
    if (!argument.startsWith('-') || name === '') {
      problems.push(`unexpected argument ${JSON.stringify(argument)}: a setting is written --name=value`);
      continue;
    }
    const flag = byName.get(name);
    const next = argv[i + 1];
    const takesNext = equals === '' && flag?.type.bare !== true && next !== undefined && !next.startsWith('--');
    if (flag === undefined || !argument.startsWith('--')) {
      problems.push(`unknown flag ${JSON.stringify(argument.split('=')[0])}${didYouMean(name, flagNames)}`);
      // Most likely its value, which deserves no message of its own.
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

function add(layer: Layer, flag: Listed, text: string): void {
  const before = flag.type.joins === true ? layer.get(flag.name) : undefined;
  layer.set(flag.name, { text: before === undefined ? text : `${before.text},${text}`, where: `--${flag.name}` });
}

function readEnvironment(env: SettingSources['env']): Layer {
  const layer: Layer = new Map();
  for (const { name } of flagList) {
    const text = env[variableOf(name)];
    if (text !== undefined && text !== '') layer.set(name, { text, where: variableOf(name) });
  }
  return layer;
}

function readFile(content: Json, path: string, problems: string[]): Layer {
  const layer: Layer = new Map();
  if (content === null) return layer;
  if (!isJsonObject(content)) {
    problems.push(`${path} must hold a map of settings, such as "secure-port: 6443"`);
    return layer;
  }
  for (const [name, value] of Object.entries(content)) {
    const where = `${name} in ${path}`;
    const text = textOf(value);
    if (name === 'config') problems.push(`${where} would name another file: there can be one only`);
    else if (!byName.has(name)) {
      problems.push(`${where} is an unknown setting${didYouMean(name, flagNames)}`);
    } else if (text === undefined) {
      problems.push(`${where} must be a text, a number, true or false, a list of these, or a map of them`);
    } else layer.set(name, { text, where });
  }
  return layer;
}

/** A value of the file as the command line would write it; undefined when the command line cannot. */
function textOf(value: Json | undefined): string | undefined {
  const texts = Array.isArray(value)
    ? value.map(scalarText)
    : isJsonObject(value)
      ? Object.entries(value).map(([name, item]) => pairText(name, scalarText(item)))
      : [scalarText(value)];
  return texts.includes(undefined) ? undefined : texts.join(',');
}

function scalarText(value: Json | undefined): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

const pairText = (name: string, text: string | undefined) => (text === undefined ? undefined : `${name}=${text}`);
