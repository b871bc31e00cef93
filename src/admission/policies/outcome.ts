/** The outcome of the decisions of validating policies: a rejection, warnings, audit annotations. */
import { escapeHtml, StatusError } from '../../meta/index.ts';
import { outOfBudget } from '../expressions/evaluate.ts';
import { forbidden } from '../request.ts';
import type { AdmissionRequest, PluginInitializer, PolicyCheck } from '../types.ts';
import type { Application } from './applications.ts';
import type { Decision, PolicyProgram, PolicyResult } from './evaluate.ts';

/** Maximum number of failures in the annotation of an audit event. */
const maxFailures = 50;
/** Of an audit annotation of one binding, in bytes. */
const maxAnnotation = 10 * 1024;
/** Maximum length of the values of one key, in characters; longer ones are omitted, as an audit event shows fewer. */
const maxValues = 16 * 1024;

const codes: { readonly [reason: string]: number } = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

/** An entry of the annotation of failures. */
interface Failure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

/** A policy, and the binding with which it was applied. */
type Applied = Pick<Application<PolicyProgram>, 'policy' | 'binding'>;

/** Collects what policies say of one request. */
export class Outcome {
  readonly #request: AdmissionRequest;
  readonly #initializer: Pick<PluginInitializer, 'names' | 'policyChecked'>;
  /** Of the first denial. */
  #rejection: StatusError | undefined;
  readonly #failures: Failure[] = [];
  /** The distinct values of audit annotations, and their characters, by key. */
  readonly #annotations = new Map<string, { readonly values: Set<string>; length: number }>();

  constructor(request: AdmissionRequest, initializer: Pick<PluginInitializer, 'names' | 'policyChecked'>) {
    this.#request = request;
    this.#initializer = initializer;
  }

  /** Adds that a policy or its binding cannot be applied. */
  addFailure(applied: Applied, why: string): void {
    if (applied.policy.failurePolicy === 'Ignore') return;
    this.#deny(applied, `failed to configure ${applied.binding === undefined ? 'policy' : 'binding'}: ${why}`);
  }

  /** Adds the result of an evaluation. */
  add(applied: Applied, { decisions, annotations, annotationFailures }: PolicyResult): void {
    for (const decision of decisions) this.#addDecision(applied, decision);
    for (const { key, value } of annotations) {
      const id = `${applied.policy.name}/${key}`;
      const annotation = this.#annotations.get(id) ?? { values: new Set(), length: 0 };
      this.#annotations.set(id, annotation);
      if (annotation.length > maxValues || annotation.values.has(value)) continue;
      annotation.values.add(cut(value));
      annotation.length += value.length;
    }
    for (const decision of annotationFailures) {
      this.#deny(applied, decision.message);
      this.#count(applied, decision, 'deny');
    }
  }

  #addDecision(applied: Applied, decision: Decision): void {
    const { policy, binding: { name = '', actions = [] } = {} } = applied;
    const { message, reason, index } = decision;
    if (!decision.denies) {
      this.#count(applied, decision, 'allow');
      return;
    }
    for (const action of actions) {
      if (action === 'Deny') {
        this.#deny(applied, message, reason);
        this.#count(applied, decision, 'deny');
      } else if (action === 'Audit') {
        const failure = { message, policy: policy.name, binding: name, expressionIndex: index };
        if (this.#failures.length < maxFailures) this.#failures.push({ ...failure, validationActions: actions });
        this.#count(applied, decision, 'audit');
      } else if (action === 'Warn') {
        const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}'`;
        this.#request.warn(`Validation failed for ${who}: ${message}`);
        this.#count(applied, decision, 'warn');
      }
    }
  }

  #deny({ policy, binding }: Applied, why: string, reason = 'Invalid'): void {
    if (this.#rejection !== undefined) return;
    const bound = binding === undefined ? '' : ` with binding '${binding.name}'`;
    const message = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${why}`;
    const refusal = forbidden(this.#request, message);
    const details = { ...refusal.details, causes: [{ message }] };
    this.#rejection = new StatusError(codes[reason] ?? 422, reason, refusal.message, details);
  }

  #count({ policy, binding }: Applied, { message, seconds }: Decision, action: PolicyCheck['action']): void {
    const check = { policy: policy.name, binding: binding?.name ?? '', error: errorOf(message), action };
    this.#initializer.policyChecked(check, seconds);
  }

  /** Annotates the audit events. @throws StatusError of the first denial */
  finish(): void {
    const { annotate } = this.#request;
    if (annotate !== undefined) {
      for (const [key, { values }] of this.#annotations) annotate(key, [...values].join(', '));
      if (this.#failures.length > 0) {
        const key = `validation.policy.admission.${this.#initializer.names.domain}/validation_failure`;
        annotate(key, escapeHtml(JSON.stringify(this.#failures)));
      }
    }
    if (this.#rejection !== undefined) throw this.#rejection;
  }
}

/** The kind of failure, as the reference server counts it: any other failure is invalid. */
function errorOf(message: string): PolicyCheck['error'] {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith(outOfBudget) ? 'out_of_budget' : 'invalid_error';
}

/** The value of an annotation, within its size. */
function cut(value: string): string {
  if (Buffer.byteLength(value) <= maxAnnotation) return value;
  return Buffer.from(value)
    .subarray(0, maxAnnotation)
    .toString()
    .replace(/\ufffd$/, '');
}
