package io.fibry.nats;

import io.fibry.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Stores whose connection can be cut, and whose writes can be made to fail. */
public final class FaultyStores {
  private FaultyStores() {}

  private static final class FaultyLog extends Log {
    private final AtomicInteger failing = new AtomicInteger();

    FaultyLog(Link link, String stream, Duration limit) throws IOException {
      super(link, stream, limit);
    }

    @Override
    CompletableFuture<Stored> addAll(List<Addition> all, long before) {
      return failing.getAndUpdate(left -> Math.max(0, left - 1)) > 0
          ? CompletableFuture.completedFuture(new Stored.Refused("made up, for a test", false))
          : super.addAll(all, before);
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

    /** Of turns, and beginnings of lives. */
    public void failNext(int writes) {
      log.failing.set(writes);
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
