package io.fibry.bench.durable;

import io.fibry.bench.durable.EmbeddedStore.Entry;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
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
 * Durable appends of 200 bytes by 1 and by 1,024 virtual threads. Our store's journal writes all
 * waiting appends as one frame; other stores stand behind a {@link GroupCommitter} that groups
 * appends in the same way.
 */
final class Appends {
  private static final String OURS = "fibry, a folder";
  private static final String ACTOR = "account-";

  /**
   * A store of others.
   *
   * @param type a class of its jar
   */
  record Peer(String name, String type, Opener opener) {
    private void checkJar() {
      try {
        Class.forName(type, false, Peer.class.getClassLoader());
      } catch (ClassNotFoundException missing) {
        throw new IllegalStateException(name + " is not on the class path; run it by mvn -q -Pstores", missing);
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
        "durable appends of 200 bytes, by so many virtual threads (size); one thread commits all that waits",
        () -> measure(List.of(ROCKSDB, SQLITE, MVSTORE)), beside(1.5, 3, ROCKSDB), beside(4, 6, SQLITE),
        beside(8, 12, MVSTORE));
  }

  private static FigureBudget beside(double must, double aim, Peer peer) {
    return FigureBudget.atLeast(must, aim, "appends by 1,024 threads, beside " + peer.name, OURS, peer.name)
        .withSize(Askers.many());
  }

  /** In the source folder of the profile {@code stores}, since its jar is large. */
  private static EmbeddedStore openRocksDb(Path folder) throws Exception {
    try {
      return (EmbeddedStore) Class.forName("io.fibry.bench.durable.RocksDb").getDeclaredMethod("open", Path.class)
          .invoke(null, folder);
    } catch (InvocationTargetException failure) {
      throw new IllegalStateException("RocksDB cannot be opened", failure.getCause());
    }
  }

  static List<RoundFigures> measure(List<Peer> peers) throws Exception {
    peers.forEach(Peer::checkJar);
    var sides = new ArrayList<Side>();
    try (var folder = TemporaryFolder.create()) {
      try {
        sides.add(ours(folder.path().resolve("ours")));
        for (var peer : peers) sides.add(theirs(peer, Files.createDirectory(folder.path().resolve(peer.name))));
        var rounds = new Rounds();
        for (var side : sides) side.addTo(rounds);
        var figures = rounds.run();
        for (var side : sides) side.check();
        return figures;
      } finally {
        for (var side : sides) side.store.close();
      }
    }
  }

  /** Where threads append. */
  interface Appended extends AutoCloseable {
    /** Waits until it is on disk. */
    void append(Entry entry);

    long count() throws Exception;

    @Override
    void close();
  }

  /** @param numbers of the last entry of each actor */
  private record Side(String name, Appended store, AtomicLongArray numbers, byte[] body) {
    private static final int BODY = 200;

    static Side of(String name, Appended store) {
      byte[] body = new byte[BODY];
      new Random(1).nextBytes(body);
      return new Side(name, store, new AtomicLongArray(Askers.many()), body);
    }

    void addTo(Rounds rounds) {
      for (int threads : new int[] {1, Askers.many()})
        rounds.side(name, Askers.UNIT, threads, () -> Askers.rate(threads, this::append));
    }

    private void append(int thread) {
      store.append(new Entry(ACTOR + thread, numbers.incrementAndGet(thread), body));
    }

    void check() throws Exception {
      long told = 0;
      for (int i = 0; i < numbers.length(); i++) told += numbers.get(i);
      if (store.count() != told)
        throw new IllegalStateException(name + " has told " + told + " entries as stored, and has " + store.count());
    }
  }

  private static Side ours(Path folder) {
    var store = FolderStore.open(folder);
    var lives = new HashMap<String, Long>();
    for (int i = 0; i < Askers.many(); i++) lives.put(ACTOR + i, store.load(id(ACTOR + i)).life());
    return Side.of(OURS, new Appended() {
      @Override
      public void append(Entry entry) {
        var turn = new Store.Turn(id(entry.actor()), lives.get(entry.actor()), entry.number(), Instant.now(), false,
            entry.body(), List.of(), List.of());
        store.append(turn).toCompletableFuture().join();
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

  private static Side theirs(Peer peer, Path folder) throws Exception {
    return Side.of(peer.name, GroupCommitter.start(peer.opener.open(folder)));
  }
}
