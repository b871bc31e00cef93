import { parseAnyJsonInSteps, stringifyJson } from '../../codec/index.ts';
import { applyJsonPatchInSteps, reasonOfJsonPatch } from '../../merge/index.ts';
import {
  inTurns,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  jsonType,
  quote,
  StatusError,
  type Steps,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import { MutatingWebhookConfiguration } from '../../types/admissionregistration-v1.ts';
import { whenConfigured } from '../chain.ts';
import { exemptFromWebhooks } from '../exemptions.ts';
import { Invocations } from '../reinvocations.ts';
import { admissionTurns } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, RegisteredWebhook, ServedKind } from '../types.ts';
import { type Calling, callWebhook, matchHook, type Reviewed, review, unusable } from './call.ts';
import { type Hook, hooksFrom } from './configurations.ts';
import type { Answer } from './review.ts';

/** Calls the webhooks of MutatingWebhookConfigurations that match a request, one after the other. */
export function mutatingWebhooks(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names, webhook, webhookObserver: observer } = initializer;
  const calling: Calling = { ...initializer, observer };
  const call = (registered: RegisteredWebhook) => webhook(registered, 'MutatingAdmissionWebhook');
  const configured = objects.derived(MutatingWebhookConfiguration, hooksFrom('admit', call));
  const invocations = new WeakMap<AdmissionRequest, Invocations>();
  const exempt = exemptFromWebhooks(names);
  const mutate = async (hooks: readonly Hook[], request: AdmissionRequest): Promise<void> => {
    const ofRequest = invocations.get(request) ?? new Invocations(request);
    invocations.set(request, ofRequest);
    await callInOrder(hooks, request, ofRequest, calling);
  };
  return {
    name: 'MutatingAdmissionWebhook',
    handles: ({ resource }) => !exempt.has(resource),
    replaces: true,
    mutate: whenConfigured(configured, mutate),
  };
}

async function callInOrder(
  hooks: readonly Hook[],
  request: AdmissionRequest,
  invocations: Invocations,
  calling: Calling,
): Promise<void> {
  invocations.begin();
  const round = invocations.isAgain ? 1 : 0;
  const read = (as: ServedKind) => review(request, as, calling);
  const turns = admissionTurns(request, calling.clock);
  for (const [i, hook] of hooks.entries()) {
    if (turns.over) await turns.next();
    if (invocations.skips(hook.id)) continue;
    const reviewed = await matchHook(hook, request, read, calling);
    if (reviewed === undefined) continue;
    if (await applyWebhook(hook, request, reviewed, calling, `round_${round}_index_${i}`)) invocations.changed();
    if (hook.reinvocable) invocations.add(hook.id);
  }
  invocations.end();
}

/** Calls a webhook and applies its patch; returns whether that changes the object. */
async function applyWebhook(
  hook: Hook,
  request: AdmissionRequest,
  reviewed: Reviewed,
  calling: Calling,
  place: string,
): Promise<boolean> {
  const { annotate } = request;
  const prefix = `webhook.admission.${calling.names.domain}/`;
  const labels = { configuration: hook.configuration, webhook: hook.name };
  let changed: boolean | undefined = false;
  try {
    const called = callWebhook(hook, request, reviewed, calling, async (answer) => {
      const operations = await inTurns(operationsOf(hook, answer), turnsOf(request));
      if (operations.length === 0) return false;
      const differs = await patch(hook, request, reviewed, operations, answer.patchType);
      const patchType = 'JSONPatch';
      const text = { ...labels, patch: operations as JsonObject[], patchType };
      annotate?.(`patch.${prefix}${place}`, stringifyJson(text), 'Request');
      return differs;
    });
    changed = await (request.stages?.waitFor(called) ?? called);
    if (changed === undefined) annotate?.(`failed-open.mutation.${prefix}${place}`, hook.name);
    return changed === true;
  } finally {
    annotate?.(`mutation.${prefix}${place}`, JSON.stringify({ ...labels, mutated: changed === true }));
  }
}

const turnsOf = ({ turns }: AdmissionRequest) => turns ?? serverTurns();

/** The operations of the patch in an answer. */
function* operationsOf(hook: Hook, { patch: encoded }: Answer): Steps<readonly JsonObject[]> {
  if (encoded === '') return [];
  const undecodable = (why: string) => unusable(hook, `received undecodable patch in webhook response: ${why}`);
  let value: Json;
  try {
    ({ value } = yield* parseAnyJsonInSteps(Buffer.from(encoded, 'base64')));
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : 'it is not JSON');
  }
  if (value === null) return [];
  if (!Array.isArray(value))
    throw undecodable(`json: cannot unmarshal ${jsonType(value)} into Go value of type jsonpatch.Patch`);
  return value.map((one) => {
    if (isJsonObject(one)) return one;
    throw undecodable(`json: cannot unmarshal ${jsonType(one)} into Go value of type jsonpatch.Operation`);
  });
}

/** Applies a patch to the object; returns whether that changes it. @throws StatusError 500 */
async function patch(
  hook: Hook,
  request: AdmissionRequest,
  { as, object }: Reviewed,
  operations: readonly JsonObject[],
  patchType: string,
): Promise<boolean> {
  if (object === undefined) {
    const what = `admission webhook ${quote(hook.name)} attempted to modify the object`;
    throw statusError.internal(`${what}, which is not supported for this operation`);
  }
  if (patchType !== 'JSONPatch') throw unusable(hook, `unsupported patch type ${quote(patchType)}`);
  // The object itself may be replaced in place.
  const before = { ...object };
  try {
    const patched = await inTurns(applyJsonPatchInSteps(before, operations), turnsOf(request));
    if (!isJsonObject(patched)) throw statusError.badRequest('the patched document is not a JSON object');
    await request.versions.write(as, patched);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const cause = error.code >= 500 ? error.cause : undefined;
    throw statusError.internal(reasonOfJsonPatch(error)?.message ?? error.message, cause);
  }
  return !jsonEqual(before, (await request.versions.read('object', as)) ?? {});
}
