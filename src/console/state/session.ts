/** Who is signed in, in the memory of the page only. */
import { signal } from '@preact/signals';
import { type Client, createClient, fetchTransport, type Transport, warningsOf } from '../../client/index.ts';
import { type Names, namesFor, StatusError } from '../../meta/index.ts';
import type { TokenSource } from '../openid/tokens.ts';
import { readSettings } from './settings.ts';

export interface Session {
  readonly client: Client;
  /** The transport of the client, for clients that do more. */
  readonly transport: Transport;
  readonly names: Names;
  readonly user: string;
  readonly groups: readonly string[];
  /** Where the browser has to move to end the session at the issuer as well; undefined: nowhere. */
  readonly signOutAddress: () => string | undefined;
}

interface SelfSubjectReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

export const session = signal<Session | undefined>(undefined);

/** Whether the last session ended because the server no longer accepted its credentials. */
export const sessionEnded = signal(false);

interface Credentials {
  /** Absent: the browser presents a client certificate. */
  readonly token?: TokenSource;
  readonly signOutAddress?: Session['signOutAddress'];
}

/**
 * Signs in with the token of each request, or without one by the client certificate of the browser.
 * @throws StatusError 401 when the server does not accept the token, or no certificate
 */
export async function signIn({ token, signOutAddress = () => undefined }: Credentials = {}): Promise<void> {
  const { domain } = await readSettings();
  const names = namesFor(domain);
  const transport = endingSession(fetchTransport({ apiDomain: domain, ...(token === undefined ? {} : { token }) }));
  const client = createClient({ transport, apiDomain: domain });
  const apiVersion = `authentication.${names.domain}/v1`;
  const review = await client.create<SelfSubjectReview>(
    { apiVersion, resource: 'selfsubjectreviews' },
    { apiVersion, kind: 'SelfSubjectReview' },
  );
  const { username = '', groups = [] } = review.status?.userInfo ?? {};
  if (token === undefined && groups.includes('system:unauthenticated')) throw new StatusError(401, 'Unauthorized', '');
  sessionEnded.value = false;
  session.value = { client, transport, names, user: username, groups, signOutAddress };
}

/** Forgets the session, and ends the one at the issuer. */
export function signOut(): void {
  const address = session.value?.signOutAddress();
  session.value = undefined;
  if (address !== undefined) location.assign(address);
}

/** Ends the session when one of its requests is answered with 401. */
function endingSession(transport: Transport): Transport {
  const listening: Transport = async (request) => {
    const response = await transport(request);
    if (response.status === 401 && session.value?.transport === ending) {
      sessionEnded.value = true;
      session.value = undefined;
    }
    return response;
  };
  const ending: Transport = Object.assign(listening, transport);
  return ending;
}

/** The session of a view, which is shown only while there is one. */
export function currentSession(): Session {
  const current = session.value;
  if (current === undefined) throw new Error('nobody is signed in');
  return current;
}

/** A client of the session with a list of the warnings in its responses. */
export function clientWithWarnings({ transport, names }: Session): { client: Client; warnings: string[] } {
  const warnings: string[] = [];
  const listening: Transport = async (request) => {
    const response = await transport(request);
    for (const text of warningsOf(response)) warnings.push(text);
    return response;
  };
  return { client: createClient({ transport: listening, apiDomain: names.domain }), warnings };
}
