package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreInUseException;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;

/** The store of an application, from its property to its end. */
class StoreTest {

  record Count() implements Request<Count, Long> {}

  /** Counts what it was given, when the gate is open. */
  private static Durable<Count> counter(Gate gate) {
    return Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
      gate.pass();
      context.reply(count, n + 1);
      return n + 1;
    });
  }

  private static final Gate OPEN = new Gate();

  @TempDir
  private Path folder;
  private ApplicationContextRunner bare;
  private ApplicationContextRunner runner;

  @BeforeEach
  void prepare() {
    OPEN.open();
    bare = new ApplicationContextRunner().withConfiguration(
        AutoConfigurations.of(FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
            FibryActuatorAutoConfiguration.class, FibryMetricsAutoConfiguration.class, Boot.metrics()));
    runner = bare.withPropertyValues("fibry.store.folder=" + folder, "fibry.drain-limit=" + Patience.LONG);
  }

  /** Returns the answer of the actor to one more message. */
  private long count() {
    try (var store = FolderStore.open(folder);
        var actor = counter(OPEN).newActor(ActorSystem.named("c"), store)) {
      return actor.ask(new Count());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Counters {
    @Bean
    Entities<String, Count> counters(ActorScope scope, Store store) {
      return counter(OPEN).entities(scope.anonymous(), store, Duration.ofMinutes(5));
    }
  }

  record Client(Entities<String, Count> counters) {}

  @Test
  void durableStateIsThereInNextContext() {
    for (int i = 1; i <= 2; i++) {
      long expected = i;
      runner.withUserConfiguration(Counters.class).withBean(Client.class).run(
          context -> assertEquals(expected, context.getBean(Client.class).counters().actor("c").ask(new Count())));
    }

    assertEquals(3, count());
  }

  @Test
  void noStoreExistsWithoutProperty() {
    bare.run(context -> {
      assertTrue(context.getBeansOfType(Store.class).isEmpty());
      assertFalse(context.containsBean("fibryStoreHealthIndicator"));
    });
    runner.withPropertyValues("fibry.enabled=false")
        .run(context -> assertTrue(context.getBeansOfType(Store.class).isEmpty()));
  }

  @Test
  void noStoreExistsWithoutItsLibrary() {
    runner.withClassLoader(new FilteredClassLoader("io.fibry.store", "io.fibry.durable", "io.fibry.codec"))
        .run(context -> {
          assertNull(context.getStartupFailure());
          assertFalse(context.containsBean("folderStore"));
          assertFalse(context.containsBean("fibryStoreHealthIndicator"));
          assertFalse(context.containsBean("fibryStoreMetrics"));
          assertNotNull(context.getBean(ActorScope.class));
        });
  }

  @Test
  void ownStoreBeanReplacesDefaultStore() throws Exception {
    var own = MemoryStore.open();

    runner.withBean("own", Store.class, () -> own).run(context -> {
      assertSame(own, context.getBean(Store.class));
      assertFalse(context.containsBean("folderStore"));
    });

    try (var files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void anEmptyFolderIsRefused() {
    bare.withPropertyValues("fibry.store.folder= ")
        .run(context -> assertEquals("fibry.store.folder is empty; name a folder, or leave the property out",
            ScopeTest.deepest(context.getStartupFailure()).getMessage()));
  }

  @Test
  void folderOpenInAnotherContextIsRefused() {
    runner.run(first -> runner.run(second -> {
      var refusal = assertInstanceOf(StoreInUseException.class, ScopeTest.deepest(second.getStartupFailure()));
      assertTrue(refusal.getMessage().startsWith(folder + " is in use by this process"), refusal::getMessage);
    }));
  }

  @Test
  void aChildUsesTheStoreOfItsParentAndLeavesItOpen() {
    runner.run(parent -> {
      runner.withParent(parent).withUserConfiguration(Counters.class).withBean(Client.class).run(child -> {
        assertSame(parent.getBean(Store.class), child.getBean(Store.class));
        assertEquals(1, child.getBean(Client.class).counters().actor("c").ask(new Count()));
      });

      try (var actor = counter(OPEN).newActor(ActorSystem.named("c"), parent.getBean(Store.class))) {
        assertEquals(2, actor.ask(new Count()));
      }
    });
  }

  @Test
  void storeClosesAfterActorsHandlePendingMessages() {
    var gate = new Gate();

    runner.withBean(ScopeClosingTest.OpensBefore.class, () -> new ScopeClosingTest.OpensBefore(gate)).run(context -> {
      var scope = context.getBean(ActorScope.class);
      var actor = counter(gate).newActor(scope.named("c"), context.getBean(Store.class));
      for (int i = 0; i < 100; i++) actor.sendMessageReturn(new Count());
      gate.awaitEntered();
    });

    assertEquals(101, count());
  }

  /** Makes actors, but is none: Spring may destroy it at any time. */
  record Maker(Actor<Count> actor) {}

  @Configuration(proxyBeanMethods = false)
  static class FailedStart {
    @Bean
    Gate gate() {
      return new Gate();
    }

    @Bean
    Maker maker(ActorScope scope, Store store, Gate gate) throws InterruptedException {
      var actor = counter(gate).newActor(scope.named("c"), store);
      scope.onClosing(gate::open);
      for (int i = 0; i < 3; i++) actor.sendMessageReturn(new Count());
      gate.awaitEntered();
      return new Maker(actor);
    }

    @Bean
    @DependsOn("maker")
    String broken() {
      throw new IllegalStateException("on purpose");
    }
  }

  /** Spring destroys it before the scope, which was made before it. */
  @Test
  void storeClosesAfterPendingMessagesWhenStartFails() {
    runner.withUserConfiguration(FailedStart.class).run(context -> assertNotNull(context.getStartupFailure()));

    assertEquals(4, count());
  }
}
