import { type ApiObject, atOnce, type JsonObject, type WaitingSteps } from '../../meta/index.ts';
import { type Apply, mergeApply, settleApply } from '../apply.ts';

/** An object after an apply: merged, normalized and settled. */
export function applyAtOnce(request: Apply, normalize: (object: JsonObject) => ApiObject): ApiObject {
  return atOnce(apply(request, normalize));
}

function* apply(request: Apply, normalize: (object: JsonObject) => ApiObject): WaitingSteps<ApiObject> {
  const merged = yield* mergeApply(request);
  return yield* settleApply(request, merged, merged.object === request.live ? request.live : normalize(merged.object));
}
