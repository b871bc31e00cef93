import type { Operation } from './history.ts';
import type { State, States } from './states.ts';

/** A claim about the store that follows from the outcome of an operation. */
export type Claim =
  /** It made the change of this revision; undefined: that change is not there. */
  | { readonly type: 'wrote'; readonly revision: number | undefined }
  /** Its key was in a state for which this holds, at one moment while it ran. */
  | { readonly type: 'saw'; readonly holds: (state: State) => boolean }
  /** It shows the state at this revision. */
  | { readonly type: 'listed'; readonly revision: number }
  | { readonly type: 'none' }
  /** No correct server gives this answer. */
  | { readonly type: 'wrong'; readonly message: string };

const none: Claim = { type: 'none' };
const isPresent = ({ object }: State): boolean => object !== undefined;
const isAbsent = ({ object }: State): boolean => object === undefined;

export function claimOf(operation: Operation, states: States): Claim {
  const { request, outcome } = operation;
  switch (outcome.type) {
    case 'unknown':
      return none;
    case 'wrong':
      return outcome;
    case 'list':
      return { type: 'listed', revision: outcome.version };
    case 'deleted':
      return { type: 'wrote', revision: states.deletion(outcome.uid)?.from };
    case 'refused':
      return states.marked ? claimOfRefusal(operation) : lenient(operation, claimOfRefusal(operation));
    case 'object': {
      const version = Number(outcome.object.metadata.resourceVersion);
      if (request.verb === 'get') return { type: 'saw', holds: ({ from, object }) => from === version && !!object };
      return { type: 'wrote', revision: version };
    }
  }
}

/** A refusal says that the key was in a state in which the request had to be refused. */
function claimOfRefusal({ request, outcome }: Operation): Claim {
  if (outcome.type !== 'refused') return none;
  const { code, reason } = outcome;
  const { verb } = request;
  if (code === 429 || code === 410) return none;
  if (code === 404 && reason === 'NotFound' && ['get', 'update', 'patch', 'delete'].includes(verb)) {
    return { type: 'saw', holds: isAbsent };
  }
  if (code === 409) {
    if (verb === 'create') return { type: 'saw', holds: isPresent };
    if (verb === 'update') return { type: 'saw', holds: (state) => isPresent(state) && state.from !== request.base };
    // Too many other writers of the same object.
    if (verb === 'patch') return none;
    if (verb === 'delete' && (request.uid !== undefined || request.base !== undefined)) {
      return { type: 'saw', holds: (state) => isPresent(state) && !meetsPreconditions(request, state) };
    }
  }
  return { type: 'wrong', message: `${code} ${reason}: ${outcome.message}` };
}

/** Where not all requests are known, only the refusals that speak of the object itself say something. */
const lenient = ({ outcome }: Operation, claim: Claim): Claim => {
  const isOfObject = outcome.type === 'refused' && ['NotFound', 'AlreadyExists', 'Conflict'].includes(outcome.reason);
  return isOfObject && claim.type === 'saw' ? claim : none;
};

/** Whether the preconditions of a deletion hold in a state. */
export function meetsPreconditions(
  { uid, base }: { readonly uid?: string; readonly base?: number },
  { from, object }: State,
): boolean {
  return (uid === undefined || uid === object?.metadata.uid) && (base === undefined || base === from);
}
