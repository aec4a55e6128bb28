// What the browser keeps on this machine: files that were dropped, and works to come back to.

const DATABASE = "kinema";
const STORES = ["files", "works"] as const;
/** Most bytes of all kept files together, and most of them: the oldest go first. */
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 24;

interface KeptFile {
  name: string;
  data: ArrayBuffer;
  /** When it was kept last, milliseconds. */
  at?: number;
}

let opening: Promise<IDBDatabase> | null = null;
/** Files of this page, for browsers that keep none: private windows, for instance. */
const ofThisPage = new Map<string, File>();

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 2);
    request.onupgradeneeded = () => {
      for (const name of STORES) if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name);
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = request.onblocked = () => reject(request.error ?? new Error("no database"));
  });
  return opening;
}

async function ask<T>(name: (typeof STORES)[number], mode: IDBTransactionMode, what: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const request = what((await database()).transaction(name, mode).objectStore(name));
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("no database"));
  });
}

/** Keep a value. Browsers may refuse: then it is not kept. */
export async function put(store: (typeof STORES)[number], key: string, value: unknown): Promise<void> {
  await ask(store, "readwrite", (all) => all.put(value, key)).catch(() => undefined);
}

export async function remove(store: (typeof STORES)[number], key: string): Promise<void> {
  await ask(store, "readwrite", (all) => all.delete(key)).catch(() => undefined);
}

export async function everything<T>(store: (typeof STORES)[number]): Promise<T[]> {
  return ask(store, "readonly", (all) => all.getAll() as IDBRequest<T[]>).catch(() => []);
}

/** The name by which the server knows a file. */
export function nameOf(file: File): string {
  return file.name.slice(-60);
}

export async function keepFile(file: File): Promise<void> {
  const kept: KeptFile = { name: nameOf(file), data: await file.arrayBuffer(), at: Date.now() };
  ofThisPage.set(kept.name, file);
  await put("files", kept.name, kept);
  const all = (await everything<KeptFile>("files")).sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
  let bytes = 0;
  for (const [i, { name, data }] of all.entries()) {
    bytes += data.byteLength;
    if (i && (i >= MOST_FILES || bytes > MOST_BYTES)) await remove("files", name);
  }
}

export async function keptFile(name: string): Promise<File | null> {
  const here = ofThisPage.get(name);
  if (here) return here;
  const kept = await ask("files", "readonly", (all) => all.get(name) as IDBRequest<KeptFile | undefined>).catch(() => undefined);
  return kept ? new File([kept.data], kept.name) : null;
}

export async function forgetFile(name: string): Promise<void> {
  ofThisPage.delete(name);
  await remove("files", name);
}
