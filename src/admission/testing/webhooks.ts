import { decodeText, type Json, type JsonObject } from '../../meta/index.ts';
import { createChain, runMutating, runValidating } from '../chain.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { mutatingWebhooks } from '../webhooks/mutating.ts';
import { validatingWebhooks } from '../webhooks/validating.ts';
import { fakeInitializer, stored } from './initializer.ts';

/** The response of a webhook: a response without the uid, a whole review, or a failure. */
export type Reply = (request: JsonObject, place: string) => JsonObject | { readonly review: Json } | Error;

const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }];

/** A webhook of a configuration with the defaults of its kind; its replies are chosen by `url`. */
export const webhook = (name: string, part: JsonObject = {}): JsonObject => ({
  name,
  rules,
  clientConfig: { url: `/${name}` },
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
  ...part,
});

export const patches = (...operations: JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

type Configurations = { readonly [name: string]: readonly JsonObject[] };

/** Both plugins over these configurations, with what was asked and what was observed. */
export function webhookPlugins(
  { mutating = {}, validating = {} }: { mutating?: Configurations; validating?: Configurations },
  reply: Reply,
  part: Partial<PluginInitializer> = {},
) {
  const asked: { readonly place: string; readonly review: JsonObject; readonly timeoutMs: number }[] = [];
  const observed: Json[] = [];
  const configurations = [
    ...Object.entries(mutating).map(([name, webhooks]) =>
      stored('mutatingwebhookconfigurations', name, { webhooks: [...webhooks] }),
    ),
    ...Object.entries(validating).map(([name, webhooks]) =>
      stored('validatingwebhookconfigurations', name, { webhooks: [...webhooks] }),
    ),
  ];
  const observe = (what: string) => (labels: object) => void observed.push({ what, ...(labels as JsonObject) });
  const initializer: PluginInitializer = {
    ...fakeInitializer([...configurations, stored('namespaces', 'n')]),
    random: { uuid: () => 'the-uid', integer: () => 0 },
    webhook:
      ({ url }) =>
      async (body, timeoutMs) => {
        const review = JSON.parse(decodeText(body)) as { readonly request: JsonObject } & JsonObject;
        const place = url ?? '';
        asked.push({ place, review, timeoutMs });
        const given = reply(review.request, place);
        if (given instanceof Error) throw given;
        const { apiVersion } = review;
        const whole =
          'review' in given
            ? given['review']
            : { apiVersion, kind: 'AdmissionReview', response: { uid: 'the-uid', ...given } };
        return Buffer.from(typeof whole === 'string' ? whole : JSON.stringify(whole));
      },
    webhookObserver: {
      called: observe('called'),
      rejected: observe('rejected'),
      failedOpen: observe('failedOpen'),
      conditions: (labels, result) => observed.push({ what: 'conditions', ...labels, result }),
    },
    ...part,
  };
  const plugins: AdmissionPlugin[] = [mutatingWebhooks(initializer), validatingWebhooks(initializer)];
  const admit = async (request: AdmissionRequest, others: readonly AdmissionPlugin[] = []): Promise<void> => {
    const chain = createChain([...others, ...plugins]);
    await runMutating(chain, request);
    await runValidating(chain, request);
  };
  return { admit, asked, observed, places: () => asked.map(({ place }) => place) };
}
