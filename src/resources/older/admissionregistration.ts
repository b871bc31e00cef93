/** The beta version of webhook configurations. */
import { type ApiObject, isJsonObject } from '../../meta/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { type Fields, field, list, type ObjectOf, string } from '../../schema/index.ts';
import * as v1 from '../../types/admissionregistration-v1.ts';
import { rulesOf, validateWebhooks } from '../admissionregistration/webhooks.validation.ts';
import { isNew } from '../shared/field-rules.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const { sideEffects } = v1.ValidatingWebhook.fields;

const optional: Fields = {
  sideEffects: { ...sideEffects, required: false, always: false },
  admissionReviewVersions: field(8, list(string), { listType: 'atomic' }),
};

const v1beta1 = typesIn(
  'admissionregistration/v1beta1',
  {
    ValidatingWebhook: { ...v1.ValidatingWebhook.fields, ...optional },
    MutatingWebhook: { ...v1.MutatingWebhook.fields, ...optional },
  },
  [v1.RuleWithOperations],
);

function setDefaults({ webhooks }: ApiObject): void {
  for (const webhook of Array.isArray(webhooks) ? webhooks : []) {
    if (!isJsonObject(webhook)) continue;
    webhook['failurePolicy'] ??= 'Ignore';
    webhook['matchPolicy'] ??= 'Exact';
    webhook['sideEffects'] ??= 'Unknown';
    webhook['timeoutSeconds'] ??= 30;
    const { admissionReviewVersions: versions } = webhook;
    if (!Array.isArray(versions) || versions.length === 0) webhook['admissionReviewVersions'] = ['v1beta1'];
  }
}

type Configuration = ObjectOf<typeof v1.MutatingWebhookConfiguration>;

/** Names may repeat, and side effects are allowed. An update need not name a known review version if the old one does not. */
function relax(ofKind: Strategy): Strategy {
  const rules = { noSideEffects: false, uniqueNames: false };
  const webhooksOf = (object: ApiObject) => (object as unknown as Configuration).webhooks;
  return {
    ...ofKind,
    validate: (object) =>
      isNew(object) ? validateWebhooks(webhooksOf(object), { ...rules, knownReviewVersion: true }) : [],
    validateUpdate: (object, old) =>
      validateWebhooks(webhooksOf(object), {
        ...rules,
        knownReviewVersion: rulesOf(webhooksOf(old)).knownReviewVersion,
      }),
  };
}

const kind = (plural: string, schema: Parameters<typeof v1beta1>[0]): OlderKind => ({
  group: 'admissionregistration.{domain}',
  plural,
  versions: [
    {
      version: 'v1beta1',
      schema: v1beta1(schema),
      lifecycle: { introduced: '1.9', deprecated: '1.16', removed: '1.22' },
      changes: [],
      defaults: setDefaults,
      strategy: relax,
    },
  ],
});

export const admissionregistration: readonly OlderKind[] = [
  kind('mutatingwebhookconfigurations', v1.MutatingWebhookConfiguration),
  kind('validatingwebhookconfigurations', v1.ValidatingWebhookConfiguration),
];
