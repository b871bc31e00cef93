import { Lanes } from '../../meta/index.ts';
import { ValidatingWebhookConfiguration } from '../../types/admissionregistration-v1.ts';
import { whenConfigured } from '../chain.ts';
import { exemptFromWebhooks } from '../exemptions.ts';
import { admissionTurns } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, RegisteredWebhook, ServedKind } from '../types.ts';
import { type Calling, callWebhook, matchHook, type Reviewed, review } from './call.ts';
import { type Hook, hooksFrom } from './configurations.ts';

/** How many webhooks are called at a time for a request. */
const maxCalls = 64;

interface Matching {
  readonly hook: Hook;
  readonly reviewed: Reviewed;
}

/** Calls the webhooks of ValidatingWebhookConfigurations that match a request, many at a time. */
export function validatingWebhooks(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names, webhook, webhookObserver: observer } = initializer;
  const calling: Calling = { ...initializer, observer };
  const call = (registered: RegisteredWebhook) => webhook(registered, 'ValidatingAdmissionWebhook');
  const configured = objects.derived(ValidatingWebhookConfiguration, hooksFrom('validating', call));
  const exempt = exemptFromWebhooks(names);
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: ({ resource }) => !exempt.has(resource),
    validate: whenConfigured(configured, (hooks, request) => callAll(hooks, request, calling)),
  };
}

/** @throws StatusError of the first webhook that refuses, once all have answered */
async function callAll(hooks: readonly Hook[], request: AdmissionRequest, calling: Calling): Promise<void> {
  // Nothing changes the object in this phase: webhooks that get it in the same version share its text.
  const reviews = new Map<string, Promise<Reviewed>>();
  const read = (as: ServedKind) => {
    const key = `${as.resource.group}/${as.resource.version}`;
    const reviewed = reviews.get(key) ?? review(request, as, calling);
    reviews.set(key, reviewed);
    return reviewed;
  };
  const matching: Matching[] = [];
  const turns = admissionTurns(request, calling.clock);
  for (const hook of hooks) {
    if (turns.over) await turns.next();
    const reviewed = await matchHook(hook, request, read, calling);
    if (reviewed !== undefined) matching.push({ hook, reviewed });
  }
  const prefix = `failed-open.validating.webhook.admission.${calling.names.domain}/`;
  const call = async ({ hook, reviewed }: Matching, i: number) => {
    // A call may begin with a TLS connection of its own.
    if (turns.over) await turns.next();
    const isAnswered = await callWebhook(hook, request, reviewed, calling, async () => true);
    if (isAnswered === undefined) request.annotate?.(`${prefix}round_0_index_${i}`, hook.name);
  };
  const lanes = new Lanes(maxCalls);
  const settled = Promise.allSettled(matching.map((one, i) => lanes.run('', () => call(one, i))));
  const outcomes = await (request.stages?.waitFor(settled) ?? settled);
  const refusal = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refusal !== undefined) throw refusal.reason;
}
