import type { CachedObject } from '../../cache/index.ts';
import { atOnce, inTurns, Stage, type Turns, type WaitingSteps } from '../../meta/index.ts';
import { StoreError } from '../../store/index.ts';
import { authorizeCreate, runMutatingAdmission, runValidatingAdmission } from './admit.ts';
import { commit, compareWithStored, skipUnchanged } from './commit.ts';
import {
  allocateValues,
  checkCandidateSize,
  completeCandidate,
  defaultCandidate,
  makeCandidate,
  readCurrentObject,
  settleAdmission,
  updateManagers,
  writeProjection,
} from './prepare.ts';
import {
  addWarnings,
  checkReferences,
  findErrors,
  findLengthyErrors,
  rejectInvalid,
  runWriteCheck,
} from './validate.ts';
import { Attempt, type Outcome, type WriteRequest } from './write-request.ts';

interface WriteStage {
  /** The stage of the request of which it is a part, for times and traces. */
  readonly stage: Stage;
  /** Undefined: it is done. A computation in steps runs in the turns of the attempt. */
  readonly run: (attempt: Attempt) => WaitingSteps<void> | Promise<void> | undefined;
  /** The verb to which it does not apply. */
  readonly except?: 'delete';
}

/** A write: every attempt runs these in order, until one of them sets the outcome or throws. */
const writeStages: readonly WriteStage[] = [
  { stage: Stage.preparation, run: readCurrentObject },
  { stage: Stage.preparation, run: makeCandidate },
  { stage: Stage.preparation, run: defaultCandidate, except: 'delete' },
  { stage: Stage.preparation, run: checkCandidateSize, except: 'delete' },
  { stage: Stage.preparation, run: updateManagers, except: 'delete' },
  { stage: Stage.mutatingAdmission, run: runMutatingAdmission },
  { stage: Stage.validation, run: settleAdmission, except: 'delete' },
  { stage: Stage.validation, run: runWriteCheck, except: 'delete' },
  { stage: Stage.validation, run: writeProjection, except: 'delete' },
  { stage: Stage.validation, run: completeCandidate, except: 'delete' },
  { stage: Stage.validation, run: allocateValues },
  { stage: Stage.validation, run: findErrors, except: 'delete' },
  { stage: Stage.validation, run: findLengthyErrors, except: 'delete' },
  { stage: Stage.validation, run: rejectInvalid, except: 'delete' },
  { stage: Stage.validation, run: checkReferences, except: 'delete' },
  { stage: Stage.validation, run: addWarnings, except: 'delete' },
  { stage: Stage.validation, run: authorizeCreate, except: 'delete' },
  { stage: Stage.validatingAdmission, run: runValidatingAdmission },
  { stage: Stage.store, run: compareWithStored },
  { stage: Stage.store, run: skipUnchanged },
  { stage: Stage.store, run: commit },
];

/** Attempts a write. Undoes the side effects of admission unless the object was, or may have been, stored. */
export async function attemptWrite(
  request: WriteRequest,
  current: CachedObject | undefined,
  turns: Turns | undefined,
): Promise<Outcome> {
  const attempt = new Attempt(request, current, turns);
  const { change, options } = request;
  let stored = false;
  try {
    let entered: Stage | undefined;
    for (const { stage, run, except } of writeStages) {
      if (except === change.verb) continue;
      if (stage !== entered) options.stages?.enter(stage);
      entered = stage;
      const work = run(attempt);
      if (work instanceof Promise) await work;
      else if (work !== undefined && turns === undefined) atOnce(work);
      else if (work !== undefined) await inTurns(work, turns as Turns);
      if (attempt.outcome !== undefined) break;
      if (turns?.over) await turns.next();
    }
    const { outcome } = attempt;
    if (outcome === undefined) throw new Error('the stages of a write end without an outcome');
    stored = outcome.kind === 'stored' && !request.dryRun;
    return outcome;
  } catch (error) {
    stored = error instanceof StoreError && error.code === 'uncertain';
    throw error;
  } finally {
    if (!stored) for (const undo of attempt.undo) await undo();
  }
}
