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
import io.fibry.spring.monitoring.FibryActuatorAutoConfiguration;
import io.fibry.spring.monitoring.FibryMetricsAutoConfiguration;
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

/** Tests the store of an application, from its creation until the application ends. */
class StoreTest {

  record Count() implements Request<Count, Long> {}

  /** Returns a kind whose actors count their messages. A handler waits until the gate is open. */
  private static Durable<Count> counter(Gate gate) {
    return Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
      gate.pass();
      context.reply(count, n + 1);
      return n + 1;
    });
  }

  private static final Gate OPEN_GATE = new Gate();

  @TempDir
  private Path folder;
  private ApplicationContextRunner withoutFolder;
  private ApplicationContextRunner runner;

  @BeforeEach
  void prepare() {
    OPEN_GATE.open();
    withoutFolder = new ApplicationContextRunner().withConfiguration(
        AutoConfigurations.of(FibryAutoConfiguration.class, FibryStoreAutoConfiguration.class,
            FibryActuatorAutoConfiguration.class, FibryMetricsAutoConfiguration.class, Boot.metrics()));
    runner = withoutFolder.withPropertyValues("fibry.store.folder=" + folder, "fibry.drain-limit=" + Patience.LONG);
  }

  /** Sends one more message to the actor "c" in the folder, and returns the answer. */
  private long count() {
    try (var store = FolderStore.open(folder);
        var actor = counter(OPEN_GATE).newActor(ActorSystem.named("c"), store)) {
      return actor.ask(new Count());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Counters {
    @Bean
    Entities<String, Count> counters(ActorScope scope, Store store) {
      return counter(OPEN_GATE).entities(scope.anonymous(), store, Duration.ofMinutes(5));
    }
  }

  record Client(Entities<String, Count> counters) {}

  @Test
  void durableStateIsLoadedInNextContext() {
    for (int i = 1; i <= 2; i++) {
      long expected = i;
      runner.withUserConfiguration(Counters.class).withBean(Client.class).run(
          context -> assertEquals(expected, context.getBean(Client.class).counters().actor("c").ask(new Count())));
    }

    assertEquals(3, count());
  }

  @Test
  void noStoreExistsWithoutFolderProperty() {
    withoutFolder.run(context -> {
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
    var ownStore = MemoryStore.open();

    runner.withBean("own", Store.class, () -> ownStore).run(context -> {
      assertSame(ownStore, context.getBean(Store.class));
      assertFalse(context.containsBean("folderStore"));
    });

    try (var files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void emptyFolderNameIsRefused() {
    withoutFolder.withPropertyValues("fibry.store.folder= ")
        .run(context -> assertEquals("fibry.store.folder is empty; name a folder, or leave the property out",
            ScopeTest.rootCause(context.getStartupFailure()).getMessage()));
  }

  @Test
  void folderOpenInAnotherContextIsRefused() {
    runner.run(first -> runner.run(second -> {
      var refusal = assertInstanceOf(StoreInUseException.class, ScopeTest.rootCause(second.getStartupFailure()));
      assertTrue(refusal.getMessage().startsWith(folder + " is in use by this process"), refusal::getMessage);
    }));
  }

  @Test
  void childContextUsesStoreOfParentAndLeavesStoreOpen() {
    runner.run(parent -> {
      runner.withParent(parent).withUserConfiguration(Counters.class).withBean(Client.class).run(child -> {
        assertSame(parent.getBean(Store.class), child.getBean(Store.class));
        assertEquals(1, child.getBean(Client.class).counters().actor("c").ask(new Count()));
      });

      try (var actor = counter(OPEN_GATE).newActor(ActorSystem.named("c"), parent.getBean(Store.class))) {
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

  /** A bean that holds an actor but is not an actor, so Spring may destroy it at any time. */
  record ActorHolder(Actor<Count> actor) {}

  @Configuration(proxyBeanMethods = false)
  static class FailedStart {
    @Bean
    Gate gate() {
      return new Gate();
    }

    @Bean
    ActorHolder actorHolder(ActorScope scope, Store store, Gate gate) throws InterruptedException {
      var actor = counter(gate).newActor(scope.named("c"), store);
      scope.onClosing(gate::open);
      for (int i = 0; i < 3; i++) actor.sendMessageReturn(new Count());
      gate.awaitEntered();
      return new ActorHolder(actor);
    }

    @Bean
    @DependsOn("actorHolder")
    String broken() {
      throw new IllegalStateException("on purpose");
    }
  }

  /** Spring destroys the store before the scope, because the scope was created first. */
  @Test
  void storeClosesAfterPendingMessagesAreHandledWhenStartFails() {
    runner.withUserConfiguration(FailedStart.class).run(context -> assertNotNull(context.getStartupFailure()));

    assertEquals(4, count());
  }
}
