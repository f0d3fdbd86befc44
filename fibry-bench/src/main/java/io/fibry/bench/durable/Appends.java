package io.fibry.bench.durable;

import io.fibry.bench.durable.EmbeddedStore.Entry;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures durable appends of 200 bytes by 1 and by 1,024 virtual threads. The journal of our store
 * writes all pending appends as one frame. A {@link GroupCommitter} groups the appends to each
 * other store in the same way.
 */
final class Appends {
  private static final String OURS = "fibry, a folder";
  private static final String ACTOR = "account-";

  /**
   * A store of another project.
   *
   * @param type the name of a class of the store; if it cannot be loaded, the jar is missing
   */
  record Peer(String name, String type, Opener opener) {
    private void checkJar() {
      try {
        Class.forName(type, false, Peer.class.getClassLoader());
      } catch (ClassNotFoundException failure) {
        throw new IllegalStateException(name + " is not on the class path; run it by mvn -q -Pstores", failure);
      }
    }
  }

  interface Opener {
    EmbeddedStore open(Path folder) throws Exception;
  }

  static final Peer MVSTORE = new Peer("mvstore", "org.h2.mvstore.MVStore", MvStore::open);
  private static final Peer SQLITE = new Peer("sqlite", "org.sqlite.JDBC", Sqlite::open);
  private static final Peer ROCKSDB = new Peer("rocksdb", "org.rocksdb.RocksDB", Appends::openRocksDb);

  private Appends() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-appends",
        "durable appends of 200 bytes, by one and by many virtual threads (the column \"size\"); "
            + "one thread commits all that waits",
        () -> measure(List.of(ROCKSDB, SQLITE, MVSTORE)), promiseAgainst(1.5, 3, ROCKSDB), promiseAgainst(4, 6, SQLITE),
        promiseAgainst(8, 12, MVSTORE));
  }

  private static MeasurementBudget promiseAgainst(double bound, double aim, Peer peer) {
    return MeasurementBudget.atLeast(bound, aim, "appends by 1,024 threads, beside " + peer.name, OURS, peer.name)
        .withSize(Askers.manyAskers());
  }

  /**
   * Opens RocksDB by reflection. Only the profile {@code stores} compiles the adapter, because the
   * jar of RocksDB is large.
   */
  private static EmbeddedStore openRocksDb(Path folder) throws Exception {
    try {
      return (EmbeddedStore) Class.forName("io.fibry.bench.durable.RocksDb").getDeclaredMethod("open", Path.class)
          .invoke(null, folder);
    } catch (InvocationTargetException failure) {
      throw new IllegalStateException("RocksDB cannot be opened", failure.getCause());
    }
  }

  static List<RoundMeasurements> measure(List<Peer> peers) throws Exception {
    peers.forEach(Peer::checkJar);
    var sides = new ArrayList<Side>();
    try (var folder = TemporaryFolder.create()) {
      try {
        sides.add(folderStoreSide(folder.path().resolve("ours")));
        for (var peer : peers) sides.add(peerSide(peer, Files.createDirectory(folder.path().resolve(peer.name))));
        var rounds = new Rounds();
        for (var side : sides) side.addTo(rounds);
        var measurements = rounds.run();
        for (var side : sides) side.checkCount();
        return measurements;
      } finally {
        for (var side : sides) side.store.close();
      }
    }
  }

  /** A store to which threads append at the same time. */
  interface AppendStore extends AutoCloseable {
    /** Appends an entry, and waits until it is on disk. */
    void append(Entry entry);

    long count() throws Exception;

    @Override
    void close();
  }

  /** @param numbers the number of the last entry of each actor; 0 if it has no entry */
  private record Side(String name, AppendStore store, AtomicLongArray numbers, byte[] body) {
    private static final int BODY_SIZE = 200;

    static Side of(String name, AppendStore store) {
      byte[] body = new byte[BODY_SIZE];
      new Random(1).nextBytes(body);
      return new Side(name, store, new AtomicLongArray(Askers.manyAskers()), body);
    }

    void addTo(Rounds rounds) {
      for (int threads : new int[] {1, Askers.manyAskers()})
        rounds.side(name, Askers.UNIT, threads, () -> Askers.rate(threads, this::append));
    }

    private void append(int thread) {
      store.append(new Entry(ACTOR + thread, numbers.incrementAndGet(thread), body));
    }

    void checkCount() throws Exception {
      long appended = 0;
      for (int i = 0; i < numbers.length(); i++) appended += numbers.get(i);
      if (store.count() != appended)
        throw new IllegalStateException(name + " confirmed " + appended + " entries, but has " + store.count());
    }
  }

  private static Side folderStoreSide(Path folder) {
    var store = FolderStore.open(folder);
    var backend = StoreBackend.of(store);
    var lives = new HashMap<String, Long>();
    for (int i = 0; i < Askers.manyAskers(); i++) lives.put(ACTOR + i, backend.load(id(ACTOR + i)).life());
    return Side.of(OURS, new AppendStore() {
      @Override
      public void append(Entry entry) {
        var turn =
            new StoreBackend.Turn(id(entry.actor()), lives.get(entry.actor()), entry.number(), Instant.now(), false,
                entry.body(), List.of(), List.of());
        backend.append(turn).toCompletableFuture().join();
      }

      @Override
      public long count() {
        return store.health().turns();
      }

      @Override
      public void close() {
        store.close();
      }
    });
  }

  private static Store.ActorId id(String actor) {
    return new Store.ActorId("account", actor);
  }

  private static Side peerSide(Peer peer, Path folder) throws Exception {
    return Side.of(peer.name, GroupCommitter.start(peer.opener.open(folder)));
  }
}
