import { ValidatingWebhookConfiguration } from '../../types/admissionregistration-v1.ts';
import { whenConfigured } from '../chain.ts';
import { exemptFromWebhooks } from '../exemptions.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, RegisteredWebhook, ServedKind } from '../types.ts';
import { ask, type Calling, concerning, type Reviewed, review } from './call.ts';
import { type Hook, hooksOf } from './configurations.ts';

/** Asks the webhooks of ValidatingWebhookConfigurations, all that are concerned at once. */
export function validatingWebhooks(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names, webhook, webhookObserver: observer } = initializer;
  const calling: Calling = { ...initializer, observer };
  const call = (registered: RegisteredWebhook) => webhook(registered, 'ValidatingAdmissionWebhook');
  const configured = objects.derived(ValidatingWebhookConfiguration, (all) => hooksOf(all, 'validating', call));
  const exempt = exemptFromWebhooks(names);
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: ({ resource }) => !exempt.has(resource),
    validate: whenConfigured(configured, (hooks, request) => callAll(hooks, request, calling)),
  };
}

/** @throws StatusError of the first webhook that refuses, once all have answered */
async function callAll(hooks: readonly Hook[], request: AdmissionRequest, calling: Calling): Promise<void> {
  // Nothing changes the object any more: those that get it in the same version share what is written of it.
  const known = new Map<string, Promise<Reviewed>>();
  const read = (as: ServedKind) => {
    const key = `${as.resource.group}/${as.resource.version}`;
    const found = known.get(key) ?? review(request, as, calling);
    known.set(key, found);
    return found;
  };
  const concerned: { readonly hook: Hook; readonly reviewed: Reviewed }[] = [];
  for (const hook of hooks) {
    const reviewed = await concerning(hook, request, read, calling);
    if (reviewed !== undefined) concerned.push({ hook, reviewed });
  }
  const prefix = `failed-open.validating.webhook.admission.${calling.names.domain}/`;
  const answers = concerned.map(async ({ hook, reviewed }, i) => {
    const answered = await ask(hook, request, reviewed, calling, async () => true);
    if (answered === undefined) request.annotate?.(`${prefix}round_0_index_${i}`, hook.name);
  });
  const refused = (await Promise.allSettled(answers)).find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}
