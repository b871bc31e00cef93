import { type Clock, type Names, type ResourcePlace, toUserInfo } from '../meta/index.ts';
import { type AnnotationLog, AuditContext } from './context.ts';
import { shownUserAgent, sourceIPs } from './event.ts';
import { type PolicyRuleEvaluator, policyRuleEvaluator } from './policy.ts';
import type { AuditAttributes, AuditBackend, AuditCounts, AuditEvent, ObjectReference, Policy } from './types.ts';

/** The part of a request that its audit event shows. */
export interface AuditedRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly peer: { readonly address: string };
}

export interface AuditorOptions {
  readonly policy: Policy;
  readonly backends: readonly AuditBackend[];
  readonly counts: AuditCounts;
  readonly clock: Pick<Clock, 'now'>;
  readonly names: Names;
  readonly log: AnnotationLog;
}

/** Decides which requests are audited, and passes their events to the backends. */
export interface Auditor {
  /**
   * Begins to audit a request, before anything is decided about it; undefined when its level is `None`. A request
   * without a user has failed to authenticate. `received`: milliseconds since 1970. `annotations`: what is known already.
   */
  begin(
    request: AuditedRequest,
    attributes: AuditAttributes,
    auditID: string,
    received: number,
    annotations?: ReadonlyMap<string, string>,
  ): AuditContext | undefined;
  /** Delivers what is buffered; what is left after `graceMs` is lost. */
  close(graceMs: number): Promise<void>;
}

export const emptyAuditCounts = (): AuditCounts => ({ events: 0, rejected: 0, levels: new Map(), errors: new Map() });

export function createAuditor({ policy, backends, counts, clock, names, log }: AuditorOptions): Auditor {
  const evaluate: PolicyRuleEvaluator = policyRuleEvaluator(policy);
  const blocking = backends.some(({ mode }) => mode !== 'batch');
  const emit = (event: AuditEvent): Promise<boolean> | undefined => {
    counts.events++;
    const written = backends.flatMap((backend) => backend.write(event) ?? []);
    return written.length === 0 ? undefined : Promise.all(written).then((all) => !all.includes(false));
  };
  const reject = () => {
    counts.rejected++;
  };
  return {
    begin(request, attributes, auditID, received, annotations = none) {
      const config = evaluate(attributes);
      const { level } = config;
      counts.levels.set(level, (counts.levels.get(level) ?? 0) + 1);
      if (level === 'None') return undefined;
      const { user, verb, resource } = attributes;
      return new AuditContext({
        config,
        event: {
          level,
          auditID,
          requestURI: request.url,
          verb,
          user: user === undefined ? {} : toUserInfo(user),
          sourceIPs: sourceIPs(request.headers, request.peer.address),
          userAgent: shownUserAgent(request.headers['user-agent']),
          objectRef: resource === undefined ? undefined : referenceOf(resource),
          received,
        },
        annotations,
        kind: user === undefined ? 'unauthenticated' : isLongRunning(attributes) ? 'longRunning' : 'short',
        domain: names.domain,
        now: clock.now,
        blocking,
        emit,
        reject,
        log,
      });
    },
    async close(graceMs) {
      await Promise.all(backends.map((backend) => backend.close(graceMs)));
    },
  };
}

const none: ReadonlyMap<string, string> = new Map();
const streams = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const isLongRunning = ({ verb, resource, path }: AuditAttributes): boolean =>
  resource === undefined
    ? path.startsWith('/debug/pprof/')
    : verb === 'watch' || verb === 'proxy' || streams.has(resource.subresource);

/** The reference to the object that a request names, without empty fields. */
function referenceOf({ resource, namespace, name, group, version, subresource }: ResourcePlace): ObjectReference {
  const fields = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
