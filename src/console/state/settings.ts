/** The settings that the server gives the page before anybody signs in. */

/** An OpenID Connect provider with which users may sign in. */
export interface Issuer {
  readonly url: string;
  readonly clientId: string;
  readonly discoveryUrl: string;
  /** The origins to which the policy lets the page connect for it. */
  readonly origins: readonly string[];
}

export interface PageSettings {
  /** The API domain. */
  readonly domain: string;
  /** The scopes that the page requests from issuers. */
  readonly scopes: readonly string[];
  readonly issuers: readonly Issuer[];
}

let known: Promise<PageSettings> | undefined;

/** The settings, which are read once. @throws Error when they cannot be read; the next call reads again */
export function readSettings(): Promise<PageSettings> {
  known ??= fetchSettings();
  known.catch(() => {
    known = undefined;
  });
  return known;
}

async function fetchSettings(): Promise<PageSettings> {
  const response = await fetch('settings.json');
  if (!response.ok) throw new Error(`the settings of the page cannot be read: HTTP ${response.status}`);
  return (await response.json()) as PageSettings;
}
