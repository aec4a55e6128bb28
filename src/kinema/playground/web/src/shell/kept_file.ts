// The file that was dropped last: the browser keeps it on this machine, so that it is there after a reload.

const [DATABASE, STORE, KEY] = ["kinema", "files", "dropped"];

function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result.transaction(STORE, mode).objectStore(STORE));
    request.onerror = () => reject(request.error ?? new Error("no database"));
  });
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("no database"));
  });
}

/** Keep a file. Browsers may refuse, in private windows for instance: then it is not kept. */
export async function keepFile(file: File): Promise<void> {
  const data = await file.arrayBuffer();
  await store("readwrite").then((files) => done(files.put({ name: file.name, data }, KEY))).catch(() => undefined);
}

export async function keptFile(): Promise<File | null> {
  try {
    const kept = (await done((await store("readonly")).get(KEY))) as { name: string; data: ArrayBuffer } | undefined;
    return kept ? new File([kept.data], kept.name) : null;
  } catch {
    return null;
  }
}

export async function forgetFile(): Promise<void> {
  await store("readwrite").then((files) => done(files.delete(KEY))).catch(() => undefined);
}
