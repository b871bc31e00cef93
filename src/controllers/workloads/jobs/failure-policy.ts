import type { JobSpec } from '../../../types/batch-v1.ts';
import type { Pod } from '../../shared/pods.ts';

type Policy = NonNullable<JobSpec['podFailurePolicy']>;
type Rule = NonNullable<Policy['rules']>[number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** The verdict of a pod failure policy on a failed pod. */
export interface Verdict {
  /** Of the rule that matches; undefined when none does. */
  readonly action?: string;
  /** Why the job fails because of this pod. */
  readonly failsJob?: string;
}

export function verdictOf(policy: Policy | undefined, pod: Pod): Verdict {
  for (const [i, rule] of (policy?.rules ?? []).entries()) {
    const { action = '' } = rule;
    const why = reasonOf(rule, pod);
    if (why === undefined || !actions.has(action)) continue;
    return action === 'FailJob' ? { action, failsJob: `${why} matching FailJob rule at index ${i}` } : { action };
  }
  return {};
}

const actions = new Set(['Ignore', 'FailIndex', 'Count', 'FailJob']);

/** Whether the failure counts towards the backoff limits. */
export const isCounted = (policy: Policy | undefined, pod: Pod): boolean => verdictOf(policy, pod).action !== 'Ignore';

/** Why a rule matches the pod; undefined when it does not. */
function reasonOf({ onExitCodes, onPodConditions }: Rule, { metadata, status }: Pod): string | undefined {
  const name = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes !== undefined) {
    const failed = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((container) =>
      matchesExitCode(onExitCodes, container),
    );
    const code = failed?.state?.terminated?.exitCode;
    return failed && `Container ${failed.name} for pod ${name} failed with exit code ${code}`;
  }
  const condition = (status?.conditions ?? []).find((condition) =>
    onPodConditions?.some(({ type, status = 'True' }) => condition.type === type && condition.status === status),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

function matchesExitCode(
  { containerName, operator, values = [] }: NonNullable<Rule['onExitCodes']>,
  { name, state }: ContainerStatus,
): boolean {
  if (state?.terminated === undefined || (containerName !== undefined && containerName !== name)) return false;
  const { exitCode = 0 } = state.terminated;
  if (exitCode === 0) return false;
  return operator === 'In' ? values.includes(exitCode) : operator === 'NotIn' && !values.includes(exitCode);
}
