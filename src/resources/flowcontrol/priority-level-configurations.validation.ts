import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../types/flowcontrol-v1.ts';
import { eachOf, oneOf, unique } from '../shared/field-rules.ts';

const EXEMPT = 'exempt';
const MAX_QUEUES = 10_000_000;
/** Bits of a hash that shuffle sharding may use. */
const MAX_HASH_BITS = 60;

export function defaultPriorityLevel({ limited, exempt }: PriorityLevelConfigurationSpec): void {
  if (limited !== undefined) {
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const queuing = limited.limitResponse?.queuing;
    if (queuing !== undefined) {
      queuing.queues ||= 64;
      queuing.handSize ||= 8;
      queuing.queueLengthLimit ||= 50;
    }
  }
  if (exempt === undefined) return;
  exempt.nominalConcurrencyShares ??= 0;
  exempt.lendablePercent ??= 0;
}

export function validatePriorityLevel(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const { type = '', limited, exempt } = spec;
  const errors: FieldError[] = [];
  if (type === '') errors.push(...oneOf('spec.type', type, ['Exempt', 'Limited']));
  if ((name === EXEMPT) !== (type === 'Exempt')) {
    const why = "must be 'Exempt' if and only if `name` is 'exempt'";
    errors.push(fieldError.invalid('spec.type', type, why));
  }
  if (type === 'Exempt') {
    if (limited !== undefined) {
      errors.push(fieldError.forbidden('spec.limited', 'must be nil if the type is not Limited'));
    }
    return [...errors, ...(exempt === undefined ? [] : validateShares(exempt, 'spec.exempt'))];
  }
  if (type !== 'Limited') return errors;
  if (exempt !== undefined) errors.push(fieldError.forbidden('spec.exempt', 'must be nil if the type is Limited'));
  if (limited === undefined) {
    return [...errors, fieldError.required('spec.limited', 'must not be empty when type is Limited')];
  }
  return [...errors, ...validateLimited(limited, 'spec.limited')];
}

interface Shares {
  nominalConcurrencyShares?: number;
  lendablePercent?: number;
}

function validateShares(
  { nominalConcurrencyShares: shares = 0, lendablePercent: percent = 0 }: Shares,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (shares < 0) {
    errors.push(fieldError.invalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer'));
  }
  if (percent < 0 || percent > 100) {
    errors.push(fieldError.invalid(`${path}.lendablePercent`, percent, 'must be between 0 and 100, inclusive'));
  }
  return errors;
}

function validateLimited(limited: Infer<typeof LimitedPriorityLevelConfiguration>, path: string): FieldError[] {
  const { limitResponse = {}, borrowingLimitPercent: percent = 0 } = limited;
  const errors = [...validateShares(limited, path), ...validateResponse(limitResponse, `${path}.limitResponse`)];
  if (percent >= 0) return errors;
  const why = 'if specified, must be a non-negative integer';
  return [...errors, fieldError.invalid(`${path}.borrowingLimitPercent`, percent, why)];
}

function validateResponse({ type = '', queuing }: Infer<typeof LimitResponse>, path: string): FieldError[] {
  const at = `${path}.queuing`;
  if (type === 'Reject') {
    const why = 'must be nil if limited.limitResponse.type is not Limited';
    return queuing === undefined ? [] : [fieldError.forbidden(at, why)];
  }
  if (type !== 'Queue') return oneOf(`${path}.type`, type, ['Queue', 'Reject']);
  if (queuing !== undefined) return validateQueuing(queuing, at);
  return [fieldError.required(at, 'must not be empty if limited.limitResponse.type is Limited')];
}

function validateQueuing(queuing: Infer<typeof QueuingConfiguration>, path: string): FieldError[] {
  const { queues = 0, handSize: hand = 0, queueLengthLimit: length = 0 } = queuing;
  const errors: FieldError[] = [];
  if (length <= 0) errors.push(fieldError.invalid(`${path}.queueLengthLimit`, length, 'must be positive'));
  if (queues <= 0) errors.push(fieldError.invalid(`${path}.queues`, queues, 'must be positive'));
  else if (queues > MAX_QUEUES) {
    errors.push(fieldError.invalid(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  }
  const at = `${path}.handSize`;
  const bits = Math.ceil(Math.log2(queues) * hand);
  if (hand <= 0) errors.push(fieldError.invalid(at, hand, 'must be positive'));
  else if (hand > queues) {
    errors.push(fieldError.invalid(at, hand, `should not be greater than queues (${queues})`));
  } else if (bits > MAX_HASH_BITS) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MAX_HASH_BITS}`;
    errors.push(fieldError.invalid(at, hand, why));
  }
  return errors;
}

/** Validates the status of both kinds of the group. */
export function validateStatus(status: { conditions?: { type?: string }[] } | undefined): FieldError[] {
  const path = 'status.conditions';
  return [
    ...unique(status?.conditions, path, ({ type = '' }) => type, '.type'),
    ...eachOf(status?.conditions, path, ({ type = '' }, at) =>
      type === '' ? [fieldError.required(`${at}.type`)] : [],
    ),
  ];
}
