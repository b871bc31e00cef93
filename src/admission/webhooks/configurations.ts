import { inTurns, type ObjectMeta, once, serverTurns } from '../../meta/index.ts';
import type { MutatingWebhook, ValidatingWebhook } from '../../types/admissionregistration-v1.ts';
import { type CompiledConditions, compileMatchConditions } from '../expressions/match-conditions.ts';
import { type CompiledMatch, compileMatch } from '../matching.ts';
import type { CallWebhook, Derivation, RegisteredWebhook } from '../types.ts';

/** How metrics name the two kinds of webhooks. */
export type HookType = 'admit' | 'validating';

/** A webhook of a configuration, ready to be called. */
export interface Hook {
  readonly type: HookType;
  readonly name: string;
  readonly configuration: string;
  /** Distinguishes it from all others. */
  readonly id: string;
  readonly match: CompiledMatch;
  /** Compiled on first use; undefined: it has none. */
  readonly conditions: (() => Promise<CompiledConditions>) | undefined;
  readonly ignoresFailures: boolean;
  readonly sideEffects: string | undefined;
  /** The version of its reviews; undefined: it accepts none that this server knows. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly timeoutMs: number;
  readonly reinvocable: boolean;
  readonly call: CallWebhook;
}

const reviewVersions = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

interface Configuration {
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly Webhook[];
}
type Webhook = ValidatingWebhook & Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>;

/** The webhooks of all configurations, in the order of the configurations' names. */
export const hooksFrom = (
  type: HookType,
  caller: (webhook: RegisteredWebhook) => CallWebhook,
): Derivation<Configuration, readonly Hook[], readonly Hook[]> => ({
  *compile({ metadata: { name = '' }, webhooks = [] }) {
    const hooks: Hook[] = [];
    for (const [i, webhook] of webhooks.entries()) {
      yield;
      const matchConditions = webhook.matchConditions ?? [];
      const versions = webhook.admissionReviewVersions ?? [];
      hooks.push({
        type,
        name: webhook.name ?? '',
        configuration: name,
        id: `${name}/${webhook.name}/${i}`,
        match: compileMatch({ ...webhook, rules: webhook.rules ?? [] }),
        conditions:
          matchConditions.length === 0
            ? undefined
            : once(() => inTurns(compileMatchConditions(matchConditions), serverTurns())),
        ignoresFailures: webhook.failurePolicy === 'Ignore',
        sideEffects: webhook.sideEffects ?? undefined,
        reviewVersion: reviewVersions.find((known) => known === versions.find(isReviewVersion)),
        timeoutMs: (webhook.timeoutSeconds ?? 10) * 1_000,
        reinvocable: webhook.reinvocationPolicy === 'IfNeeded',
        call: caller(webhook.clientConfig ?? {}),
      });
    }
    return hooks;
  },
  join: (hooks) => hooks.flat(),
});

const isReviewVersion = (version: string): boolean => (reviewVersions as readonly string[]).includes(version);
