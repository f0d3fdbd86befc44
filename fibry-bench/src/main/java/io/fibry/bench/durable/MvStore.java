package io.fibry.bench.durable;

import java.nio.file.Path;
import java.util.List;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/** The MVStore of H2: a map, which is committed and synced after each batch. */
record MvStore(MVStore store, MVMap<String, byte[]> map) implements EmbeddedStore {

  static MvStore open(Path folder) {
    var store = new MVStore.Builder().fileName(folder.resolve("entries").toString()).autoCommitDisabled().open();
    return new MvStore(store, store.openMap("entries"));
  }

  @Override
  public void commit(List<Entry> batch) {
    for (var entry : batch) map.put(entry.actor() + "/" + entry.number(), entry.body());
    store.commit();
    store.sync();
  }

  @Override
  public long count() {
    return map.sizeAsLong();
  }

  @Override
  public void close() {
    store.close();
  }
}
