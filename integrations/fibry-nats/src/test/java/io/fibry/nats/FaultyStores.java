package io.fibry.nats;

import io.fibry.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Stores whose connection can be cut, and whose writes can be made to fail. */
public final class FaultyStores {
  private FaultyStores() {}

  /** What befalls a write. */
  @FunctionalInterface
  private interface Fault {
    CompletableFuture<Stored> write(Supplier<CompletableFuture<Stored>> writing);
  }

  private static final class FaultyLog extends Log {
    private final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();

    private volatile boolean failsPurges;

    FaultyLog(Link link, String stream, Duration limit) throws IOException {
      super(link, stream, limit);
    }

    @Override
    CompletableFuture<Stored> addAll(List<Addition> all, long before) {
      return write(() -> super.addAll(all, before));
    }

    @Override
    CompletableFuture<Stored> add(Addition one, String id) {
      return write(() -> super.add(one, id));
    }

    @Override
    CompletableFuture<Stored> purge(String subject, long last) {
      return failsPurges ? CompletableFuture.completedFuture(new Stored.Again("made up, for a test", false))
          : super.purge(subject, last);
    }

    private CompletableFuture<Stored> write(Supplier<CompletableFuture<Stored>> writing) {
      var fault = faults.poll();
      return fault == null ? writing.get() : fault.write(writing);
    }
  }

  /** A store, and what can befall it. */
  public static final class One {
    private final Store store;
    private final Link link;
    private final FaultyLog log;

    private One(Store store, Link link, FaultyLog log) {
      this.store = store;
      this.link = link;
      this.log = log;
    }

    public Store store() {
      return store;
    }

    /** It cannot be mended. */
    public void cut() {
      link.close();
    }

    /** Of turns, messages, and beginnings of lives. */
    public void failNext(int writes) {
      for (int i = 0; i < writes; i++) log.faults.add(
          writing -> CompletableFuture.completedFuture(new Stored.Refused("made up, for a test", false)));
    }

    /** They are stored, and nobody hears of it. */
    void loseAnswers(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(writing -> writing.get().thenApply(stored -> new Stored.Again("made up, for a test", true)));
    }

    /** They are not stored, and nobody knows. */
    void loseWrites(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(writing -> CompletableFuture.completedFuture(new Stored.Again("made up, for a test", true)));
    }

    /** Messages cannot be taken away. */
    void failPurges() {
      log.failsPurges = true;
    }

    /** Something comes before the write. */
    void before(Runnable task) {
      log.faults.add(writing -> {
        task.run();
        return writing.get();
      });
    }
  }

  public static One open(NatsNetwork network, String app, UnaryOperator<NatsStore.Options> changes) {
    var options = changes.apply(NatsStore.Options.USUAL.withLimit(Duration.ofSeconds(10)));
    var subjects = new LogSubjects(app);
    var link = network.link(app, "test");
    try {
      var log = new FaultyLog(link, subjects.stream(), options.limit());
      log.make(subjects.all(), 1);
      return new One(new StreamStore(log, subjects, options, link::close), link, log);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
