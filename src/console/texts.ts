/** Every text of the page, in English and in German. `{name}` stands for a parameter. */
import { computed, signal } from '@preact/signals';

const texts = {
  console: ['Console', 'Konsole'],
  // Sign in
  signIn: ['Sign in', 'Anmelden'],
  signInHint: [
    'Every request is your own: the console adds no right. The token stays in the memory of this page only.',
    'Jede Anfrage ist Ihre eigene: Die Konsole fügt kein Recht hinzu. Das Token bleibt nur im Speicher dieser Seite.',
  ],
  signInWithIssuer: ['Sign in with {issuer}', 'Anmelden mit {issuer}'],
  unexpectedSignIn: [
    'This sign-in did not begin in this tab, or it has been completed before. Sign in again.',
    'Diese Anmeldung hat nicht in diesem Tab begonnen oder wurde schon abgeschlossen. Melden Sie sich neu an.',
  ],
  issuerUnreachable: [
    '{issuer} cannot be reached, or does not allow requests from {origin}.',
    '{issuer} ist nicht erreichbar oder erlaubt keine Anfragen von {origin}.',
  ],
  issuerRefuses: ['The identity provider refuses: {why}', 'Der Identitätsanbieter lehnt ab: {why}'],
  issuerDiffers: [
    'The response is not from {issuer}, or not for this page.',
    'Die Antwort ist nicht von {issuer} oder nicht für diese Seite.',
  ],
  issuerWithoutSignIn: [
    '{issuer} has no authorization endpoint and token endpoint with https.',
    '{issuer} hat keinen Authorization-Endpunkt und Token-Endpunkt mit https.',
  ],
  issuerElsewhere: [
    'The token endpoint of {issuer} is at {origin}, to which this page may not connect.',
    'Der Token-Endpunkt von {issuer} liegt bei {origin}, wohin sich diese Seite nicht verbinden darf.',
  ],
  noIdToken: ['{issuer} has sent no ID token.', '{issuer} hat kein ID-Token gesendet.'],
  otherUser: ['the new token is that of another user', 'das neue Token gehört einem anderen Benutzer'],
  token: ['Bearer token', 'Bearer-Token'],
  signInWithToken: ['Sign in with the token', 'Mit dem Token anmelden'],
  signInWithCertificate: ['Use the certificate of the browser', 'Zertifikat des Browsers verwenden'],
  noCertificate: [
    'The server recognises no client certificate from this browser.',
    'Der Server erkennt kein Client-Zertifikat dieses Browsers.',
  ],
  tokenRefused: ['The server does not accept this token.', 'Der Server akzeptiert dieses Token nicht.'],
  sessionEnded: ['The server no longer accepts your credentials.', 'Der Server akzeptiert Ihre Anmeldung nicht mehr.'],
  signOut: ['Sign out', 'Abmelden'],
  signedInAs: ['Signed in as {user}', 'Angemeldet als {user}'],
  // Frame
  skipToContent: ['Skip to the content', 'Zum Inhalt springen'],
  kinds: ['Kinds', 'Arten'],
  filterKinds: ['Filter kinds', 'Arten filtern'],
  coreGroup: ['core', 'Kern'],
  namespace: ['Namespace', 'Namespace'],
  allNamespaces: ['All namespaces', 'Alle Namespaces'],
  language: ['Language', 'Sprache'],
  theme: ['Theme', 'Farben'],
  themeAuto: ['System', 'System'],
  themeLight: ['Light', 'Hell'],
  themeDark: ['Dark', 'Dunkel'],
  load: ['Load', 'Last'],
  menu: ['Menu', 'Menü'],
  pageNotFound: ['There is no such page.', 'Diese Seite gibt es nicht.'],
  kindNotServed: ['The server does not serve this kind.', 'Der Server kennt diese Art nicht.'],
  nothingAllowed: [
    'You may not list any kind in this namespace.',
    'Sie dürfen in diesem Namespace keine Art auflisten.',
  ],
  welcome: ['Choose a kind from the menu.', 'Wählen Sie eine Art aus dem Menü.'],
  // Tables
  filterRows: ['Filter rows by text', 'Zeilen nach Text filtern'],
  labelSelector: ['Label selector', 'Label-Selektor'],
  fieldSelector: ['Field selector', 'Feld-Selektor'],
  rowCount: ['Objects: {shown} of {all}', 'Objekte: {shown} von {all}'],
  rowCountAll: ['Objects: {all}', 'Objekte: {all}'],
  loading: ['Loading…', 'Lädt…'],
  live: ['Live', 'Aktuell'],
  reconnecting: ['Reconnecting…', 'Verbindet neu…'],
  failed: ['Failed', 'Fehlgeschlagen'],
  noObjects: ['No objects.', 'Keine Objekte.'],
  sortBy: ['Sort by {column}', 'Nach {column} sortieren'],
  create: ['Create', 'Anlegen'],
  name: ['Name', 'Name'],
  tooLate: ['It took too long.', 'Es hat zu lange gedauert.'],
  // Objects
  deletedObject: ['The object has been deleted.', 'Das Objekt wurde gelöscht.'],
  beingDeleted: ['The object is being deleted.', 'Das Objekt wird gelöscht.'],
  conditions: ['Conditions', 'Bedingungen'],
  condition: ['Condition', 'Bedingung'],
  status: ['Status', 'Status'],
  reason: ['Reason', 'Grund'],
  message: ['Message', 'Meldung'],
  since: ['Since', 'Seit'],
  events: ['Events', 'Ereignisse'],
  noEvents: ['No events.', 'Keine Ereignisse.'],
  owners: ['Owners', 'Besitzer'],
  dependents: ['Dependents', 'Abhängige'],
  noOwners: ['No owner.', 'Kein Besitzer.'],
  noDependents: ['No dependents found.', 'Keine Abhängigen gefunden.'],
  findDependents: ['Find dependents', 'Abhängige suchen'],
  searching: ['Searching {done} of {all} kinds…', 'Durchsucht {done} von {all} Arten…'],
  field: ['Field', 'Feld'],
  fieldHint: [
    'Put the cursor on a line of the YAML, or into a field of the form.',
    'Setzen Sie die Schreibmarke in eine Zeile des YAML oder in ein Feld des Formulars.',
  ],
  ownedBy: ['Owned by {managers}', 'Gehört {managers}'],
  ownedByNobody: ['No field manager owns this field.', 'Kein Field-Manager besitzt dieses Feld.'],
  noDescription: ['The schema has no description.', 'Das Schema hat keine Beschreibung.'],
  yaml: ['YAML', 'YAML'],
  yamlOf: ['YAML of {name}', 'YAML von {name}'],
  edit: ['Edit', 'Bearbeiten'],
  review: ['Review', 'Prüfen'],
  save: ['Save', 'Speichern'],
  cancel: ['Cancel', 'Abbrechen'],
  back: ['Back', 'Zurück'],
  changes: ['Changes', 'Änderungen'],
  nothingChanges: ['Nothing changes.', 'Nichts ändert sich.'],
  warnings: ['Warnings', 'Warnungen'],
  saved: ['Saved.', 'Gespeichert.'],
  changedMeanwhile: [
    'The object has changed since you began to edit.',
    'Das Objekt hat sich geändert, seit Sie es bearbeiten.',
  ],
  invalidYaml: ['The YAML is not valid: {why}', 'Das YAML ist nicht gültig: {why}'],
  conflicts: ['Conflicts', 'Konflikte'],
  conflictHint: [
    'Other field managers own fields that you changed.',
    'Andere Field-Manager besitzen Felder, die Sie geändert haben.',
  ],
  manager: ['Field manager', 'Field-Manager'],
  takeOver: ['Take over these fields', 'Diese Felder übernehmen'],
  keepTheirs: ['Keep their values', 'Deren Werte behalten'],
  removals: ['Removed fields of others', 'Entfernte Felder anderer'],
  removalHint: [
    'You removed fields that other field managers own. Saving replaces the whole object.',
    'Sie haben Felder entfernt, die anderen gehören. Speichern ersetzt das ganze Objekt.',
  ],
  // Form
  form: ['Form', 'Formular'],
  noSchema: [
    'The server has no schema of this kind: edit the YAML.',
    'Der Server hat kein Schema dieser Art: Bearbeiten Sie das YAML.',
  ],
  required: ['required', 'erforderlich'],
  add: ['Add', 'Hinzufügen'],
  addField: ['Add a field', 'Feld hinzufügen'],
  addFieldTo: ['Add a field to {field}', 'Feld zu {field} hinzufügen'],
  addItemTo: ['Add an item to {field}', 'Eintrag zu {field} hinzufügen'],
  removeField: ['Remove {field}', '{field} entfernen'],
  key: ['Key', 'Schlüssel'],
  keyOf: ['Key of a new field in {field}', 'Schlüssel eines neuen Felds in {field}'],
  notANumber: ['This is not a number.', 'Das ist keine Zahl.'],
  // Relations
  graph: ['Relations', 'Beziehungen'],
  notDrawn: ['{count} more objects are not drawn.', '{count} weitere Objekte sind nicht gezeichnet.'],
  references: ['References', 'Verweise'],
  object: ['Object', 'Objekt'],
  // Secrets
  showValues: ['Show values', 'Werte anzeigen'],
  // History
  history: ['History', 'Verlauf'],
  historyOff: [
    'The server does not read former versions of objects. Start it with',
    'Der Server liest keine früheren Fassungen von Objekten. Starten Sie ihn mit',
  ],
  historyOffHint: [
    'Versions are then kept for --etcd-compaction-interval, five minutes by default.',
    'Fassungen bleiben dann so lange erhalten, wie --etcd-compaction-interval angibt: fünf Minuten, wenn nichts anderes eingestellt ist.',
  ],
  version: ['Version', 'Fassung'],
  versionOf: ['Version {version}', 'Fassung {version}'],
  before: ['Before', 'Vorher'],
  after: ['After', 'Nachher'],
  compareFrom: ['Compare from version {version}', 'Vergleichen ab Fassung {version}'],
  compareTo: ['Compare to version {version}', 'Vergleichen bis Fassung {version}'],
  written: ['Age', 'Alter'],
  operation: ['Operation', 'Operation'],
  changedFields: ['Changed fields', 'Geänderte Felder'],
  newerVersions: ['There are newer versions.', 'Es gibt neuere Fassungen.'],
  showThem: ['Show them', 'Anzeigen'],
  olderVersions: ['Older versions', 'Ältere Fassungen'],
  compacted: ['Older versions are no longer kept.', 'Ältere Fassungen sind nicht mehr vorhanden.'],
  restore: ['Back to this version', 'Zurück zu dieser Fassung'],
  restoreHint: [
    'This is what going back to version {version} changes. Owner references, finalizers and the status stay as they are.',
    'Das ändert sich beim Zurückgehen zu Fassung {version}. Besitzer, Finalizer und Status bleiben, wie sie sind.',
  ],
  createTitle: ['Create {kind}', '{kind} anlegen'],
  created: ['Created.', 'Angelegt.'],
  // Deletion
  delete: ['Delete', 'Löschen'],
  deleteTitle: ['Delete {name}?', '{name} löschen?'],
  propagation: ['Dependents', 'Abhängige'],
  background: ['Delete them afterwards', 'Danach löschen'],
  foreground: ['Delete them first', 'Zuerst löschen'],
  orphan: ['Leave them', 'Behalten'],
  takesAlong: ['It takes along:', 'Mit gelöscht werden:'],
  // Workloads
  scale: ['Scale', 'Skalieren'],
  replicas: ['Replicas', 'Replikate'],
  restart: ['Restart', 'Neu starten'],
  rollout: ['Rollout', 'Rollout'],
  rolloutDone: ['The rollout is complete.', 'Der Rollout ist abgeschlossen.'],
  rolloutUpdated: ['{updated} of {all} updated', '{updated} von {all} aktualisiert'],
  rolloutAvailable: ['{available} of {all} available', '{available} von {all} verfügbar'],
  logs: ['Logs', 'Protokolle'],
  container: ['Container', 'Container'],
  follow: ['Follow', 'Folgen'],
  previousLog: ['Previous instance', 'Vorherige Instanz'],
  showLog: ['Show', 'Anzeigen'],
  noLog: ['The log is empty.', 'Das Protokoll ist leer.'],
  terminal: ['Terminal', 'Terminal'],
  command: ['Command', 'Befehl'],
  connect: ['Connect', 'Verbinden'],
  connecting: ['Connecting…', 'Verbindet…'],
  reconnect: ['Reconnect', 'Neu verbinden'],
  leaveTerminal: ['Shift+Tab leaves the terminal.', 'Umschalt+Tab verlässt das Terminal.'],
  commandEnded: ['The command has ended with exit code {code}.', 'Der Befehl endete mit dem Exit-Code {code}.'],
  // Load
  requestsPerSecond: ['Requests a second by verb', 'Anfragen pro Sekunde nach Verb'],
  latency: ['Latency (99th percentile, ms)', 'Latenz (99. Perzentil, ms)'],
  watches: ['Watches', 'Watches'],
  memory: ['Memory of the server (MiB)', 'Arbeitsspeicher des Servers (MiB)'],
  seats: ['Seats in use by priority level', 'Belegte Plätze nach Prioritätsstufe'],
  queued: ['Queued requests by priority level', 'Wartende Anfragen nach Prioritätsstufe'],
  mayNotReadMetrics: ['You may not read the metrics.', 'Sie dürfen die Metriken nicht lesen.'],
} as const satisfies { readonly [key: string]: readonly [english: string, german: string] };

export type TextKey = keyof typeof texts;

export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** The language of the page. */
export const language = signal<Language>('en');

const column = computed(() => languages.indexOf(language.value));

/** The text of a key in the language of the page. */
export function t(key: TextKey, parameters: { readonly [name: string]: string | number } = {}): string {
  const text: string = texts[key][column.value] ?? texts[key][0];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(parameters[name] ?? whole));
}
