import type { ApiObject, GroupVersionKind } from '../meta/index.ts';

/** A write on its way through admission. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly kind: GroupVersionKind;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The object to be stored; mutating plugins change it in place. Undefined for DELETE. */
  readonly object: ApiObject | undefined;
  /** The stored object; undefined for CREATE. Must not be changed. */
  readonly oldObject: ApiObject | undefined;
  readonly user: { readonly name: string; readonly uid?: string; readonly groups: readonly string[] };
  readonly dryRun: boolean;
  /** Adds a warning to the answer. */
  readonly warn: (text: string) => void;
}

/** One admission plugin. A refusal is a thrown StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly mutate?: (request: AdmissionRequest) => void | Promise<void>;
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>;
}
