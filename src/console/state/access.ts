/** The rights of the user, as the server reports them: nothing is offered that it would refuse. */
import { useEffect, useState } from 'preact/hooks';
import type { TypedObject } from '../../client/index.ts';
import { type ApiObject, isStatus } from '../../meta/index.ts';
import type { Kind } from './discovery.ts';
import { currentSession, type Session } from './session.ts';

/** An action on resources. */
interface ResourceAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string;
  /** Absent: every object. */
  readonly name?: string;
}

/** An action on a path that serves no resource, such as `/metrics`. */
interface PathAction {
  readonly verb: string;
  readonly path: string;
}

export type Action = ResourceAction | PathAction;

/** An action on one object. */
export const actionOn = (
  verb: string,
  { group, resource }: Pick<Kind, 'group' | 'resource'>,
  { metadata: { namespace, name = '' } }: Pick<ApiObject, 'metadata'>,
): ResourceAction => ({ verb, group, resource, name, ...(namespace ? { namespace } : {}) });

const answers = new WeakMap<Session, Map<string, Promise<boolean>>>();

/**
 * Whether the user may do something. The server is asked once for each action of a session.
 * @throws StatusError when the review fails; the next call asks again
 */
export function isAllowed(session: Session, action: Action): Promise<boolean> {
  const known = answers.get(session) ?? new Map<string, Promise<boolean>>();
  answers.set(session, known);
  const key = JSON.stringify(Object.entries(action).sort(([a], [b]) => (a < b ? -1 : 1)));
  const found = known.get(key) ?? review(session, action);
  known.set(key, found);
  found.catch(() => known.delete(key));
  return found;
}

async function review(session: Session, action: Action): Promise<boolean> {
  const spec = 'path' in action ? { nonResourceAttributes: action } : { resourceAttributes: action };
  try {
    const { status } = await post<{ allowed?: boolean }>(session, 'SelfSubjectAccessReview', spec);
    return status?.allowed === true;
  } catch (error) {
    // Who may not ask is offered nothing.
    if (isStatus(error, 403)) return false;
    throw error;
  }
}

/** A question about the rights of the user, with its answer. */
interface Review<T> extends TypedObject {
  readonly spec: object;
  readonly status?: T;
}

function post<T>({ client, names }: Session, kind: string, spec: object): Promise<Review<T>> {
  const apiVersion = `authorization.${names.domain}/v1`;
  return client.create<Review<T>>({ apiVersion, resource: `${kind.toLowerCase()}s` }, { apiVersion, kind, spec });
}

/** Delay before a failed review is repeated (ms). */
const retryMs = 5_000;

/** Whether the user may do something; false until the server has answered, and for undefined, which asks nothing. */
export function useAllowed(action: Action | undefined): boolean {
  const session = currentSession();
  const [allowed, setAllowed] = useState(false);
  const key = action && JSON.stringify(action);
  useEffect(() => {
    setAllowed(false);
    if (key === undefined) return;
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      isAllowed(session, JSON.parse(key) as Action).then(
        (answer) => current && setAllowed(answer),
        () => {
          if (current) timer = setTimeout(ask, retryMs);
        },
      );
    };
    ask();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [session, key]);
  return allowed;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}

interface RulesStatus {
  readonly incomplete?: boolean;
  readonly resourceRules?: readonly Rule[];
}

/** Tells whether a user may list the objects of a resource. */
export type MayList = (kind: { readonly group: string; readonly resource: string }) => boolean;

/**
 * The kinds that the user may list in a namespace, by the rules that the server reports. Where they are incomplete, all
 * kinds.
 */
export async function readRules(session: Session, namespace: string): Promise<MayList> {
  const spec = { namespace: namespace === '' ? 'default' : namespace };
  const { status } = await post<RulesStatus>(session, 'SelfSubjectRulesReview', spec);
  if (status?.incomplete === true) return () => true;
  const rules = (status?.resourceRules ?? []).filter(({ verbs }) => has(verbs, 'list'));
  return ({ group, resource }) =>
    rules.some(({ apiGroups = [], resources = [] }) => has(apiGroups, group) && has(resources, resource));
}

const has = (list: readonly string[], item: string): boolean => list.includes('*') || list.includes(item);
