/** Which nodes a pod may run on given the pods on them: required affinity and anti-affinity. */
import { type Json, selectorFromObject } from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import type { Namespace, PodAffinityTerm } from '../../types/core-v1.ts';
import type { NodeObject, PodObject } from './objects.ts';

type Term = Infer<typeof PodAffinityTerm>;

/** The pods and namespaces that terms select from. */
export interface Neighbours {
  /** The pods on nodes of these namespaces that have not ended. */
  readonly podsIn: (namespaces: readonly string[]) => readonly PodObject[];
  /** The pods on nodes that have required anti-affinity terms. */
  readonly guarded: () => readonly PodObject[];
  readonly namespaces: () => readonly ObjectOf<typeof Namespace>[];
  readonly node: (name: string) => NodeObject | undefined;
}

export const antiAffinityTerms = ({ spec }: PodObject): readonly Term[] =>
  spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
const affinityTerms = ({ spec }: PodObject): readonly Term[] =>
  spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

const rejections = {
  affinity: { reasons: ["node(s) didn't match pod affinity rules"], final: true },
  antiAffinity: { reasons: ["node(s) didn't match pod anti-affinity rules"], final: false },
  others: { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], final: false },
};

/** The value of the topology label of a node, with the label. */
function domainOf({ topologyKey = '' }: Term, node: NodeObject | undefined): string | undefined {
  const value = node?.metadata.labels?.[topologyKey];
  return value === undefined ? undefined : `${topologyKey}=${value}`;
}

function namespacesOf({ namespaces = [], namespaceSelector }: Term, own: string, all: Neighbours): string[] {
  if (namespaceSelector === undefined) return namespaces.length === 0 ? [own] : [...namespaces];
  const selector = selectorFromObject(namespaceSelector as Json);
  const selected = all.namespaces().filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
  return [...new Set([...namespaces, ...selected.map(({ metadata }) => metadata.name ?? '')])];
}

/** Whether a term of the pod `of` is about the pod `other`. */
function concerns(term: Term, of: PodObject, other: PodObject, all: Neighbours): boolean {
  return (
    namespacesOf(term, of.metadata.namespace ?? '', all).includes(other.metadata.namespace ?? '') &&
    selectorFromObject(term.labelSelector as Json | undefined).matches(other.metadata.labels ?? {})
  );
}

/** Why a node cannot take a pod; `final` when it could not either without its other pods. */
export interface Rejection {
  readonly reasons: readonly string[];
  readonly final: boolean;
}

/** A check of nodes for one pod: why a node cannot have it, undefined when it can. */
export function affinityCheck(pod: PodObject, all: Neighbours): (node: NodeObject) => Rejection | undefined {
  const own = pod.metadata.namespace ?? '';
  const domainsOf = (term: Term): ReadonlySet<string> => {
    const selector = selectorFromObject(term.labelSelector as Json | undefined);
    const domains = all
      .podsIn(namespacesOf(term, own, all))
      .filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
      .map((other) => domainOf(term, all.node(other.spec?.nodeName ?? '')));
    return new Set(domains.filter((domain) => domain !== undefined));
  };
  const requiredTerms = affinityTerms(pod).map((term) => ({ term, domains: domainsOf(term) }));
  // The first pod of a group that wants to be together may be anywhere.
  const isFirst = requiredTerms.every(({ term, domains }) => domains.size === 0 && concerns(term, pod, pod, all));
  const unwanted = antiAffinityTerms(pod).map((term) => ({ term, domains: domainsOf(term) }));
  const closed = new Set<string>();
  for (const other of all.guarded()) {
    for (const term of antiAffinityTerms(other)) {
      const domain = domainOf(term, all.node(other.spec?.nodeName ?? ''));
      if (domain !== undefined && concerns(term, other, pod, all)) closed.add(domain);
    }
  }
  const closedKeys = new Set([...closed].map((domain) => domain.slice(0, domain.indexOf('='))));
  return (node) => {
    const misses = requiredTerms.some(({ term, domains }) => {
      const domain = domainOf(term, node);
      return domain === undefined || !(isFirst || domains.has(domain));
    });
    if (misses) return rejections.affinity;
    if (unwanted.some(({ term, domains }) => domains.has(domainOf(term, node) ?? ''))) return rejections.antiAffinity;
    const isClosed = [...closedKeys].some((topologyKey) => closed.has(domainOf({ topologyKey }, node) ?? ''));
    return isClosed ? rejections.others : undefined;
  };
}
