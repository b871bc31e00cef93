import { parseYaml, yamlLines } from '../codec/index.ts';
import {
  dns1123Subdomain,
  formatPath,
  isJsonObject,
  type Json,
  type Names,
  type Path,
  quote,
  StatusError,
  unknownField,
} from '../meta/index.ts';
import { type GroupResources, levels, type Policy, type PolicyRule, stages } from './types.ts';

/** An error of a policy, and its field. */
interface Problem {
  readonly path: Path;
  readonly text: string;
}

/** The shape of a value: a scalar, a list, or an object with these fields. */
type Shape = 'string' | 'boolean' | 'object' | readonly [Shape] | { readonly [field: string]: Shape };

const names: Shape = ['string'];
const groupResources: Shape = { group: 'string', resources: names, resourceNames: names };
const rule: Shape = {
  level: 'string',
  users: names,
  userGroups: names,
  verbs: names,
  resources: [groupResources],
  namespaces: names,
  nonResourceURLs: names,
  omitStages: names,
  omitManagedFields: 'boolean',
};
const policy: Shape = {
  apiVersion: 'string',
  kind: 'string',
  metadata: 'object',
  rules: [rule],
  omitStages: names,
  omitManagedFields: 'boolean',
};

/** Reads a policy in YAML or JSON. Problems name the line and the field. */
export function parsePolicy(
  text: string,
  { domain }: Pick<Names, 'domain'>,
): { readonly policy: Policy } | { readonly problems: readonly string[] } {
  let value: Json;
  try {
    const parsed = parseYaml(Buffer.from(text));
    if (parsed.findings.length > 0) return { problems: parsed.findings };
    value = parsed.value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { problems: [error.message] };
  }
  const misshapen = misfits(withoutNulls(value), policy, []);
  const problems = misshapen.length > 0 ? misshapen : invalid(withoutNulls(value) as unknown as PolicyFile, domain);
  if (problems.length === 0) return { policy: withoutNulls(value) as unknown as Policy };
  const lineOf = yamlLines(text);
  return { problems: problems.map(({ path, text: what }) => `line ${lineOf(path)}: ${what}`) };
}

interface PolicyFile extends Partial<Policy> {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** A field that is null is absent. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field)]),
  );
}

/** Where a value has another shape, or unknown fields. */
function misfits(value: Json, shape: Shape, path: Path): Problem[] {
  if (typeof shape === 'string') {
    const fits = shape === 'object' ? isJsonObject(value) : typeof value === shape;
    return fits ? [] : [problem(path, `must be ${shape === 'object' ? 'an object' : `a ${shape}`}`)];
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) return [problem(path, 'must be a list')];
    return value.flatMap((item, i) => misfits(item, shape[0], [...path, i]));
  }
  if (!isJsonObject(value)) return [problem(path, 'must be an object')];
  return Object.entries(value).flatMap(([key, field]) => {
    const at = [...path, key];
    return Object.hasOwn(shape, key) ? misfits(field, shape[key] as Shape, at) : [{ path: at, text: unknownField(at) }];
  });
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);
const problem = (path: Path, text: string): Problem => ({
  path,
  text: path.length === 0 ? `the policy ${text}` : `${formatPath(path)}: ${text}`,
});

function invalid({ apiVersion, kind, rules = [], omitStages }: PolicyFile, domain: string): Problem[] {
  const version = `audit.${domain}/v1`;
  return [
    ...(apiVersion === version ? [] : [problem(['apiVersion'], `must be ${version}`)]),
    ...(kind === 'Policy' ? [] : [problem(['kind'], 'must be Policy')]),
    ...(rules.length === 0 ? [problem(['rules'], 'must have at least one rule')] : []),
    ...invalidStages(omitStages, ['omitStages']),
    ...rules.flatMap((one, i) => invalidRule(one, ['rules', i])),
  ];
}

function invalidRule(
  { level, resources = [], namespaces = [], nonResourceURLs = [], omitStages }: Partial<PolicyRule>,
  path: Path,
): Problem[] {
  const both = nonResourceURLs.length > 0 && resources.length + namespaces.length > 0;
  return [
    ...(level === undefined ? [problem([...path, 'level'], 'is required')] : []),
    ...(level !== undefined && !levels.includes(level)
      ? [problem([...path, 'level'], `${quote(level)} must be one of ${levels.join(', ')}`)]
      : []),
    ...nonResourceURLs.flatMap((url, i) => invalidUrl(url, [...path, 'nonResourceURLs', i])),
    ...resources.flatMap((one, i) => invalidResources(one, [...path, 'resources', i])),
    ...invalidStages(omitStages, [...path, 'omitStages']),
    ...(both
      ? [problem([...path, 'nonResourceURLs'], 'a rule cannot apply to both resources and non-resource URLs')]
      : []),
  ];
}

function invalidUrl(url: string, path: Path): Problem[] {
  if (url === '*') return [];
  return [
    ...(url.startsWith('/') ? [] : [problem(path, `${quote(url)} must begin with '/'`)]),
    ...(url.slice(0, -1).includes('*') ? [problem(path, `${quote(url)} may have '*' only as its last character`)] : []),
  ];
}

function invalidResources({ group = '', resources = [], resourceNames = [] }: GroupResources, path: Path): Problem[] {
  const faults = group === '' || group === '*' ? [] : dns1123Subdomain(group);
  return [
    ...(faults.length === 0
      ? []
      : [
          problem([...path, 'group'], `${quote(group)} is not an API group, without its version: ${faults.join(', ')}`),
        ]),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [problem([...path, 'resourceNames'], 'needs at least one resource in resources')]
      : []),
  ];
}

const invalidStages = (given: readonly string[] | undefined = [], path: Path): Problem[] =>
  given.flatMap((stage, i) =>
    (stages as readonly string[]).includes(stage)
      ? []
      : [problem([...path, i], `${quote(stage)} must be one of ${stages.join(', ')}`)],
  );
