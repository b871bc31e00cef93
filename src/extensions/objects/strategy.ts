import {
  type ApiObject,
  type FieldError,
  fieldErrorsInSteps,
  jsonEqual,
  type Names,
  qualifiedName,
  quote,
  type Steps,
} from '../../meta/index.ts';
import type { Strategy, ValidationSoFar, WriteContext } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { CustomResourceSubresources } from '../../types/apiextensions-v1.ts';
import { validateByRules } from '../rules/index.ts';
import type { Structural } from '../structural.ts';
import { Correlation } from './correlation.ts';
import { validateEmbedded } from './embedded.ts';
import { validateScaleSpec, validateScaleStatus } from './scale.ts';
import { validateLists, validateValue } from './validate.ts';
import type { ValueSchema } from './value-schema.ts';

export interface StrategyOptions {
  readonly names: Names;
  /** The schema of the version. */
  readonly structural: () => Structural;
  readonly values: () => ValueSchema;
  readonly subresources: Infer<typeof CustomResourceSubresources>;
  /** Whether errors in unchanged parts of an update are ignored (CRDValidationRatcheting). */
  readonly ratcheting: boolean;
}

/** The strategy of the objects of a version of a definition. */
export function strategyOf(options: StrategyOptions): Strategy {
  const { names, structural, values, subresources, ratcheting } = options;
  const { scale } = subresources;
  const correlate = (object: ApiObject, old: ApiObject) =>
    ratcheting ? new Correlation(object, old, structural()) : undefined;
  function* validateWhole(object: ApiObject, old: ApiObject | undefined): Steps<FieldError[]> {
    const correlation = old === undefined ? undefined : correlate(object, old);
    return [
      ...(yield* validateValue(values(), object, '', correlation)),
      ...(scale === undefined ? [] : [...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale)]),
      ...(yield* validateEmbedded(structural(), object, names)),
      ...(yield* validateLists(structural(), object, old)),
    ];
  }
  function* validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]> {
    const { status } = object;
    const schema = values().properties?.get('status');
    return [
      ...(status === undefined || schema === undefined
        ? []
        : yield* validateValue(schema, status, 'status', correlate(object, old)?.key('status'))),
      ...(scale === undefined ? [] : validateScaleStatus(object, scale)),
      ...(yield* validateLists(structural(), object, old)),
    ];
  }
  /** By the schema, then by the rules. */
  function* validate(
    object: ApiObject,
    old: ApiObject | undefined,
    context: WriteContext,
    before: ValidationSoFar,
  ): Steps<readonly FieldError[]> {
    const isStatus = before.part === 'status' && old !== undefined;
    const own = yield* fieldErrorsInSteps(isStatus ? validateStatus(object, old) : validateWhole(object, old));
    const errors = [...before.found, ...own];
    const { warn } = context;
    const byRules = yield* validateByRules(structural(), { object, old, ratcheting, errors, warn });
    return [...own, ...byRules];
  }
  return {
    metadataChecks: [0, 1],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    prepareUpdate: (object, old) => {
      // Without a subresource, the status counts like every other field.
      if (subresources.status !== undefined || jsonEqual(object['status'], old['status'])) return;
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validateInSteps: validate,
    warnings: (object, old) => finalizerWarnings(object, old, names),
  };
}

/** Warnings about the finalizers that a write adds. */
function finalizerWarnings(object: ApiObject, old: ApiObject | undefined, { product }: Names): string[] {
  const { finalizers = [] } = object.metadata;
  if (finalizers.length === 0) return [];
  const before = new Set(old?.metadata.finalizers);
  const standard = new Set(['orphan', 'foregroundDeletion', product]);
  return [...new Set(finalizers)]
    .filter((finalizer) => !before.has(finalizer))
    .sort()
    .flatMap((finalizer) => {
      const problems = qualifiedName(finalizer).map((why) => `metadata.finalizers: ${quote(finalizer)}: ${why}`);
      if (finalizer.includes('/') || standard.has(finalizer)) return problems;
      const path = finalizer.includes('.') ? ' including a path (/)' : '';
      const why = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
      return [...problems, `metadata.finalizers: ${quote(finalizer)}: ${why}`];
    });
}
