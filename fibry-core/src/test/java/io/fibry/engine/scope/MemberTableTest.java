package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.StressHarness;
import io.fibry.engine.cell.Cell;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MemberTableTest {
  private final MemberTable roll = new MemberTable();

  private static Cell named(String name) {
    var cell = (Cell) ActorSystem.anonymous().newActor(message -> {});
    cell.setIdentity(name, null);
    return cell;
  }

  private List<Object> all() {
    return roll.allMembers();
  }

  @Test
  void newRollIsEmpty() {
    var member = new Object();

    roll.freeName(member);
    roll.remove(member);

    assertTrue(roll.isEmpty());
    assertNull(roll.findByName("a"));
    assertEquals(List.of(), all());
    assertEquals(List.of(), roll.membersFrom(member));
  }

  @Test
  void aNameIsTakenUntilItIsFree() {
    var first = named("a");
    var second = named("a");
    assertTrue(roll.add(first));

    assertFalse(roll.add(second));
    roll.freeName(first);

    assertNull(roll.findByName("a"));
    assertTrue(roll.add(second));
    assertSame(second, roll.findByName("a"));
    assertEquals(List.of(first, second), all());
    roll.remove(first);
    assertSame(second, roll.findByName("a"));
    assertEquals(List.of(second), all());
  }

  @Test
  void namesWithTheSameHashAreTwo() {
    var one = named("Aa");
    var other = named("BB");

    assertTrue(roll.add(one) && roll.add(other));

    assertSame(one, roll.findByName("Aa"));
    assertSame(other, roll.findByName("BB"));
    roll.remove(one);
    assertNull(roll.findByName("Aa"));
    assertSame(other, roll.findByName("BB"));
  }

  /** Beside a list of all that is in it. */
  @Test
  void rollHasSameMembersAsModel() {
    long seed = StressHarness.seed();
    System.out.println("members of a scope: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      var roll = new MemberTable();
      var model = new ArrayList<Object>();
      var names = new ArrayList<Cell>(); // that have their names
      int most = 1 << random.nextInt(12);
      for (int step = 0; step < 4 * most; step++) {
        boolean grows = step % (2 * most) < most; // and shrinks
        if (model.isEmpty() || random.nextInt(10) < (grows ? 8 : 2)) {
          var name = "name" + random.nextInt(most);
          var member = random.nextBoolean() ? new Object() : named(name);
          boolean taken = member instanceof Cell && names.stream().anyMatch(other -> other.label().equals(name));
          assertEquals(!taken, roll.add(member));
          if (taken) continue;
          model.add(member);
          if (member instanceof Cell cell) names.add(cell);
        } else {
          var member = model.get(random.nextInt(model.size()));
          if (random.nextInt(3) == 0) roll.freeName(member);
          else {
            roll.remove(member);
            model.remove(member);
          }
          names.remove(member);
        }
        assertEquals(model.isEmpty(), roll.isEmpty());
        if (step % 64 > 0) continue;
        assertEquals(model, roll.allMembers());
        for (var cell : names) assertSame(cell, roll.findByName(cell.label()));
        if (model.isEmpty()) continue;
        int from = random.nextInt(model.size());
        assertEquals(model.subList(from, model.size()), roll.membersFrom(model.get(from)));
      }
    }
  }

  /** Were they not spread over all places, this would take minutes. */
  @Test
  void millionMembersAreSpreadOverPlaces() {
    var members = new Object[1_000_000];
    for (int i = 0; i < members.length; i++) roll.add(members[i] = i % 10 == 0 ? named("member" + i) : new Object());

    for (var member : members) roll.remove(member);

    assertTrue(roll.isEmpty());
  }

  /** Each thread adds its own and removes half of them; of those with one name one is added. */
  @Test
  void concurrentThreadsLoseNoMembers() {
    int threads = 4;
    int each = 5_000;
    var left = new ConcurrentLinkedQueue<>();
    var winners = new AtomicInteger();
    var done = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) Patience.startFiber(() -> {
      for (int i = 0; i < each; i++) {
        var member = new Object();
        roll.add(member);
        if (i % 2 == 0) roll.remove(member);
        else left.add(member);
        if (i % 50 > 0) continue;
        var cell = named("n" + i);
        if (!roll.add(cell)) continue;
        winners.incrementAndGet();
        left.add(cell);
      }
      done.countDown();
    });
    Patience.await(done);

    assertEquals(each / 50, winners.get());
    assertEquals(left.size(), all().size());
    assertTrue(all().containsAll(List.of(left.peek())));
    left.forEach(roll::remove);
    assertTrue(roll.isEmpty());
    assertEquals(List.of(), all());
  }
}
