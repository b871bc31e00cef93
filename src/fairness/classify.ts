/** Which flow schema a request belongs to. */
import type { ResourcePlace, User } from '../meta/index.ts';
import type { Infer } from '../schema/index.ts';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../types/flowcontrol-v1.ts';

/** What a request is classified by. */
export interface FlowAttributes {
  readonly user: User;
  /** The verb of a resource request; the lower-case HTTP method of any other. */
  readonly verb: string;
  /** Undefined for a non-resource request. */
  readonly resource: ResourcePlace | undefined;
  /** The path of the URL, without query. */
  readonly path: string;
}

type Distinguisher = 'ByUser' | 'ByNamespace';

type Matches = (attributes: FlowAttributes) => boolean;

/** The rules of a flow schema that have the same subjects. */
interface Rule {
  readonly hasSubject: (user: User) => boolean;
  readonly matches: Matches;
}

/** A flow schema that is ready to match requests. */
export interface Schema {
  readonly name: string;
  readonly uid: string;
  /** The name of its priority level. */
  readonly level: string;
  readonly precedence: number;
  /** Undefined: all its requests are one flow. */
  readonly distinguisher: Distinguisher | undefined;
  readonly rules: readonly Rule[];
}

export function compileSchema(name: string, uid: string, spec: FlowSchemaSpec): Schema {
  const { priorityLevelConfiguration: level, matchingPrecedence: precedence = 1000, distinguisherMethod, rules } = spec;
  return {
    name,
    uid,
    level: level?.name ?? '',
    precedence,
    distinguisher: distinguisherMethod?.type as Distinguisher | undefined,
    rules: (rules ?? []).map(compileRule),
  };
}

/** The flow of a request within its schema: the user, the namespace, or the empty text. */
export function distinguisherOf({ distinguisher }: Schema, { user, resource }: FlowAttributes): string {
  if (distinguisher === 'ByUser') return user.name;
  return distinguisher === 'ByNamespace' ? (resource?.namespace ?? '') : '';
}

function compileRule({
  subjects = [],
  resourceRules = [],
  nonResourceRules = [],
}: Infer<typeof PolicyRulesWithSubjects>): Rule {
  const users = subjects.map(compileSubject);
  const places = resourceRules.map(compileResourceRule);
  const paths = nonResourceRules.map(compilePathRule);
  return {
    hasSubject: (user) => users.some((is) => is(user)),
    matches: (attributes) => (attributes.resource === undefined ? paths : places).some((match) => match(attributes)),
  };
}

/** A service account is recognised by its user name, not by its groups. */
function compileSubject({ kind, user, group, serviceAccount }: Infer<typeof Subject>): (user: User) => boolean {
  const { name = '' } = user ?? group ?? serviceAccount ?? {};
  if (kind === 'ServiceAccount') {
    const prefix = `system:serviceaccount:${serviceAccount?.namespace}:`;
    return name === '*' ? (user) => user.name.startsWith(prefix) : (user) => user.name === prefix + name;
  }
  if (name === '*') return () => true;
  return kind === 'User' ? (user) => user.name === name : ({ groups }) => groups.includes(name);
}

/** Whether a text is in the list, or the list has `*`. */
function includes(list: readonly string[] = []): (text: string) => boolean {
  const texts = new Set(list);
  return texts.has('*') ? () => true : (text) => texts.has(text);
}

/** A request without a namespace needs a rule with `clusterScope`. */
function compileResourceRule({
  verbs,
  apiGroups,
  resources,
  namespaces,
  clusterScope = false,
}: Infer<typeof ResourcePolicyRule>): Matches {
  const [isVerb, isGroup, isResource, isNamespace] = [verbs, apiGroups, resources, namespaces].map((list) =>
    includes(list),
  ) as [Test, Test, Test, Test];
  return ({ verb, resource }) => {
    if (resource === undefined || !isVerb(verb) || !isGroup(resource.group)) return false;
    const { namespace, subresource } = resource;
    if (!isResource(subresource === '' ? resource.resource : `${resource.resource}/${subresource}`)) return false;
    return namespace === '' ? clusterScope : isNamespace(namespace);
  };
}

type Test = (text: string) => boolean;

/** A path matches the paths below it too; `/a/*` matches only those. */
function compilePathRule({ verbs, nonResourceURLs = [] }: Infer<typeof NonResourcePolicyRule>): Matches {
  const isVerb = includes(verbs);
  if (nonResourceURLs.includes('*')) return ({ verb }) => isVerb(verb);
  const paths = nonResourceURLs.map((url): Test => {
    if (url.endsWith('/*')) return (path) => path.startsWith(url.slice(0, -1));
    return (path) => path === url || path.startsWith(`${url}/`);
  });
  return ({ verb, path }) => isVerb(verb) && paths.some((is) => is(path));
}

/** The rules that can match the requests of a user, in the order of their schemas. */
interface UserRules {
  readonly groups: readonly string[];
  readonly rules: readonly { readonly schema: Schema; readonly matches: Matches }[];
}

/** The maximum number of users whose rules are remembered. */
const maxUsers = 4096;

/** Classifies requests by a set of schemas. */
export class Classifier {
  /** In the order in which they are tried: by precedence, then by name. */
  readonly schemas: readonly Schema[];
  readonly #users = new Map<string, UserRules>();

  constructor(schemas: Iterable<Schema>) {
    this.schemas = [...schemas].sort(
      (a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    );
  }

  /** The first schema that matches; undefined when none does. */
  classify(attributes: FlowAttributes): Schema | undefined {
    for (const { schema, matches } of this.#rulesOf(attributes.user)) if (matches(attributes)) return schema;
    return undefined;
  }

  #rulesOf(user: User): UserRules['rules'] {
    const known = this.#users.get(user.name);
    if (known !== undefined && sameTexts(known.groups, user.groups)) return known.rules;
    const rules = this.schemas.flatMap((schema) =>
      schema.rules.filter(({ hasSubject }) => hasSubject(user)).map(({ matches }) => ({ schema, matches })),
    );
    if (this.#users.size >= maxUsers) this.#users.clear();
    this.#users.set(user.name, { groups: user.groups, rules });
    return rules;
  }
}

const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a === b || (a.length === b.length && a.every((text, i) => text === b[i]));
