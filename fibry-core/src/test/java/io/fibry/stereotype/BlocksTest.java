package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each block, made by its builder. */
class BlocksTest {
  private final ActorScope scope = ActorSystem.openScope("blocks");
  private final Stereotypes here = Stereotypes.of(scope.anonymous().strategy(Strategy.THREAD));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private static boolean onThread() {
    return !Thread.currentThread().isVirtual();
  }

  @Test
  void poolsAreMadeAsTheBuilderSays() {
    assertTrue(here.poolPerMessage().newActorWithReturn((String m) -> onThread()).ask("?"));
    assertTrue(here.pool(2).newActorWithReturn((String m) -> onThread()).ask("?"));
    assertTrue(here.scalingPool(0, 2).newActorWithReturn((String m) -> onThread()).ask("?"));
    assertTrue(here.weightedPool(9, String::length).newActorWithReturn((String m) -> onThread()).ask("?"));
    assertTrue(here.poolByKey(2, String::length).newActorWithReturn((String m) -> onThread()).ask("?"));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(5, scope.report().handled());
  }

  @Test
  void aTopicTellsItsSubscribers() {
    var topic = here.<String>topic();
    topic.subscribeToLatest(news -> seen.add(news + onThread()));

    topic.publish("rain ");
    topic.close();

    assertEquals(List.of("rain true"), seen);
  }

  @Test
  void valuesAreFollowed() {
    var level = here.observableValue(1);
    var levels = here.<String, Integer>observableMap();
    level.subscribe(now -> seen.add(now));
    levels.subscribe("a", now -> now.ifPresent(seen::add));

    level.set(2);
    levels.put("a", 3);

    Patience.eventually(() -> seen.containsAll(List.of(2, 3)));
  }

  @Test
  void aGeneratorMakesWhatIsRead() {
    var squares = here.<Integer>generator(2, out -> IntStream.range(0, 5).forEach(n -> out.yield(n * n)));

    assertEquals(List.of(0, 1, 4, 9, 16), squares.stream().toList());
  }

  @Test
  void aPipelineIsDrained() {
    var in = here.pipeline((String line) -> line.trim()).then(2, line -> line + onThread()).into(seen::add);

    in.sendMessage(" a ");
    in.close();

    assertEquals(List.of("atrue"), seen);
  }

  @Test
  void itemsAreMappedAndFolded() {
    var sum = here.mapReduce(2, List.of("a", "bc"), String::length, 0, Integer::sum);

    assertEquals(3, Patience.value(sum));
  }

  @Test
  void recipesOfOneBuilderAreOneBuilder() {
    assertSame(Strategy.THREAD, BlockBuilder.of(here.pool(2)).strategy());
  }
}
