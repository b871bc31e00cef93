/** Which flow schema a request belongs to. */
import type { ResourcePlace, User } from '../meta/index.ts';
import type { Infer } from '../schema/index.ts';
import type { FlowSchemaSpec, PolicyRulesWithSubjects, Subject } from '../types/flowcontrol-v1.ts';

/** The attributes by which a request is classified. */
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

/** A set of texts; undefined: every text. */
type Texts = ReadonlySet<string> | undefined;

interface ResourceRule {
  readonly verbs: Texts;
  readonly groups: Texts;
  /** Plural names, each with its subresource. */
  readonly resources: Texts;
  readonly namespaces: Texts;
  /** Whether requests without a namespace match. */
  readonly clusterScope: boolean;
}

interface PathRule {
  readonly verbs: Texts;
  /** Every path if one of them is `*`. A path matches the paths below it too; `/a/*` matches only those. */
  readonly paths: readonly string[];
}

/** The rules of a flow schema that have the same subjects. */
interface Rule {
  readonly hasSubject: (user: User) => boolean;
  readonly resourceRules: readonly ResourceRule[];
  readonly pathRules: readonly PathRule[];
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
export function distinguisherOf(
  { distinguisher }: Pick<Schema, 'distinguisher'>,
  { user, resource }: FlowAttributes,
): string {
  if (distinguisher === 'ByUser') return user.name;
  return distinguisher === 'ByNamespace' ? (resource?.namespace ?? '') : '';
}

/** A list of a stored rule; null: it has none. */
type StoredList = readonly string[] | null | undefined;

function compileRule({ subjects, resourceRules, nonResourceRules }: Infer<typeof PolicyRulesWithSubjects>): Rule {
  const users = (subjects ?? []).map(compileSubject);
  return {
    hasSubject: (user) => users.some((is) => is(user)),
    resourceRules: (resourceRules ?? []).map(({ verbs, apiGroups, resources, namespaces, clusterScope }) => ({
      verbs: textsOf(verbs),
      groups: textsOf(apiGroups),
      resources: textsOf(resources),
      namespaces: textsOf(namespaces),
      clusterScope: clusterScope === true,
    })),
    pathRules: (nonResourceRules ?? []).map(({ verbs, nonResourceURLs }) => ({
      verbs: textsOf(verbs),
      paths: (nonResourceURLs as StoredList) ?? [],
    })),
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

/** The texts of a list, in which `*` stands for all. */
const textsOf = (list: StoredList): Texts => (list?.includes('*') ? undefined : new Set(list));

function matchesResource(rule: ResourceRule, verb: string, place: ResourcePlace): boolean {
  const { verbs, groups, resources, namespaces, clusterScope } = rule;
  if (verbs?.has(verb) === false || groups?.has(place.group) === false) return false;
  const { resource, subresource, namespace } = place;
  if (resources?.has(subresource === '' ? resource : `${resource}/${subresource}`) === false) return false;
  return namespace === '' ? clusterScope : namespaces?.has(namespace) !== false;
}

function matchesPath({ verbs, paths }: PathRule, verb: string, path: string): boolean {
  if (verbs?.has(verb) === false) return false;
  return paths.some((pattern) => {
    if (pattern.endsWith('/*')) return path.startsWith(pattern.slice(0, -1));
    return pattern === '*' || path === pattern || path.startsWith(`${pattern}/`);
  });
}

/** The rules that can match the requests of a user, in the order of their schemas. */
interface UserRules {
  readonly groups: readonly string[];
  readonly resourceRules: readonly (readonly [ResourceRule, Schema])[];
  readonly pathRules: readonly (readonly [PathRule, Schema])[];
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
  classify({ user, verb, resource, path }: FlowAttributes): Schema | undefined {
    let rules = this.#users.get(user.name);
    if (rules === undefined || (rules.groups !== user.groups && !sameTexts(rules.groups, user.groups))) {
      rules = this.#remember(user);
    }
    const { resourceRules, pathRules } = rules;
    if (resource === undefined) {
      for (const [rule, schema] of pathRules) if (matchesPath(rule, verb, path)) return schema;
    } else {
      for (const [rule, schema] of resourceRules) if (matchesResource(rule, verb, resource)) return schema;
    }
    return undefined;
  }

  /** Finds the rules of a user, and remembers them. */
  #remember(user: User): UserRules {
    const matching = this.schemas.flatMap((schema) =>
      schema.rules.filter(({ hasSubject }) => hasSubject(user)).map((rule) => ({ schema, ...rule })),
    );
    const rules: UserRules = {
      groups: user.groups,
      resourceRules: matching.flatMap(({ resourceRules, schema }) =>
        resourceRules.map((rule) => [rule, schema] as const),
      ),
      pathRules: matching.flatMap(({ pathRules, schema }) => pathRules.map((rule) => [rule, schema] as const)),
    };
    if (this.#users.size >= maxUsers) this.#users.clear();
    this.#users.set(user.name, rules);
    return rules;
  }
}

const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i]);
