import { formatTime } from '../../meta/index.ts';
import type { Namespace } from '../../types/core-v1.ts';
import type { ServedResource } from '../metadata/discovery.ts';

type Conditions = NonNullable<NonNullable<Namespace['status']>['conditions']>;

/** The result of an attempt to delete the content of a namespace. */
export interface Found {
  /** Why resources could not be discovered. */
  discoveryFailure: string | undefined;
  /** Errors of deletions and lists. */
  readonly failures: string[];
  /** How many objects of a resource remain. */
  readonly remaining: Map<ServedResource, number>;
  /** How many objects a finalizer keeps. */
  readonly finalizers: Map<string, number>;
}

export const foundNothing = (): Found => ({
  discoveryFailure: undefined,
  failures: [],
  remaining: new Map(),
  finalizers: new Map(),
});

interface ConditionType {
  readonly type: string;
  /** The reason and the message while there is nothing to tell. */
  readonly fine: readonly [reason: string, message: string];
  /** The reason otherwise, and the message; undefined when there is nothing to tell. */
  readonly reason: string;
  readonly message: (content: Found) => string | undefined;
}

/** Counts as text, in the order of the text; undefined for none. */
function listed(prefix: string, texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : `${prefix}: ${[...texts].sort().join(', ')}`;
}

const conditionTypes: readonly ConditionType[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    fine: ['ResourcesDiscovered', 'All resources successfully discovered'],
    reason: 'DiscoveryFailed',
    message: ({ discoveryFailure }) => discoveryFailure,
  },
  {
    // Aggregated discovery lists groups and versions separately, so that nothing needs parsing.
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    fine: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    reason: 'GroupVersionParsingFailed',
    message: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    fine: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    reason: 'ContentDeletionFailed',
    message: ({ failures }) => listed(`Failed to delete all resource types, ${failures.length} remaining`, failures),
  },
  {
    type: 'NamespaceContentRemaining',
    fine: ['ContentRemoved', 'All content successfully removed'],
    reason: 'SomeResourcesRemain',
    message: ({ remaining }) =>
      listed(
        'Some resources are remaining',
        [...remaining].map(([{ resource, group }, count]) => `${resource}.${group} has ${count} resource instances`),
      ),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    fine: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    reason: 'SomeFinalizersRemain',
    message: ({ finalizers }) =>
      listed(
        'Some content in the namespace has finalizers remaining',
        [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`),
      ),
  },
];

/** The conditions that tell what was found; undefined when they do already. `now` in ms. */
export function conditionsAfter(before: Conditions, content: Found, now: number): Conditions | undefined {
  const conditions = [...before];
  let changed = false;
  for (const { type, fine, reason: otherwise, message: tell } of conditionTypes) {
    const text = tell(content);
    const [reason, message] = text === undefined ? fine : [otherwise, text];
    const status = text === undefined ? 'False' : 'True';
    const index = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[index];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    changed = true;
    const lastTransitionTime = old?.status === status ? (old.lastTransitionTime ?? formatTime(now)) : formatTime(now);
    const condition = { type, status, lastTransitionTime, reason, message };
    if (index < 0) conditions.push(condition);
    else conditions[index] = condition;
  }
  return changed ? conditions : undefined;
}
