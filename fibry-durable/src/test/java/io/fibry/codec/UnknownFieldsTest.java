package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests that a codec reports fields that newer code has written, at any depth. */
class UnknownFieldsTest {
  static final class Newer {
    sealed interface Shape {}
    record Circle(int radius, Optional<String> color) implements Shape {}
    record Point(List<Integer> at) implements Shape {}
    record Page(List<Shape> list, Map<String, Shape> map, Optional<Shape> optional, Shape[] array, List<Point> set,
        Map<String, List<Circle>> extra) {}
  }

  static final class Older {
    sealed interface Shape {}
    record Circle(int radius) implements Shape {}
    record Point() implements Shape {}
    record Page(List<Shape> list, Map<String, Shape> map, Optional<Shape> optional, Shape[] array, List<Point> set) {}
  }

  private static final Newer.Circle CIRCLE = new Newer.Circle(1, Optional.empty());
  private static final Newer.Point POINT = new Newer.Point(List.of());
  private static final String COLOR = "field 'color' of Circle";
  private static final String AT = "field 'at' of Point";

  private static List<String> unknownFields(DerivedCodec<?> codec, byte[] bytes) {
    var fields = new ArrayList<String>();
    codec.decode(bytes, fields::add);
    return fields;
  }

  @Test
  void codecReportsUnknownFieldsAtAnyDepth() {
    var bytes = Codec.of(Newer.Page.class).encode(new Newer.Page(List.of(CIRCLE, POINT), Map.of("a", CIRCLE),
        Optional.of(POINT), new Newer.Shape[] {CIRCLE}, List.of(POINT), Map.of("not", List.of(CIRCLE))));

    assertEquals(List.of(COLOR, AT, COLOR, AT, COLOR, AT, "field 'extra' of Page"),
        unknownFields(Codec.of(Older.Page.class), bytes));
    assertEquals(List.of(), unknownFields(Codec.of(Newer.Page.class), bytes));
  }

  @Test
  void fieldDeclaredRemovedIsNotReportedAsUnknown() {
    var bytes = Codec.of(Newer.Page.class).encode(new Newer.Page(List.of(CIRCLE, POINT), Map.of(), Optional.empty(),
        new Newer.Shape[0], List.of(), Map.of()));
    var codec = Codec.of(Older.Page.class,
        forms -> forms.ignoreRemoved(Older.Circle.class, "color").ignoreRemoved(Older.Page.class, "other", "extra"));

    assertEquals(List.of(AT), unknownFields(codec, bytes));
    assertTrue(codec.schema().contains("Circle(radius: int, color (removed))\n"), codec::schema);
  }

  @Test
  void fieldDeclaredRemovedFromOldFormIsNotReportedAsUnknown() {
    record Before(int size) {}
    record Once(int size, int gone) {}
    record Now(long length) {}
    var codec = Codec.of(Now.class, forms -> forms.readOld("Once", Before.class, old -> new Now(old.size()))
        .ignoreRemoved(Before.class, "gone"));
    var bytes = Codec.of(Once.class).encode(new Once(7, 8));

    assertEquals(new Now(7), codec.decode(bytes));
    assertEquals(List.of(), unknownFields(codec, bytes));
  }

  @Test
  void existingFieldCannotBeDeclaredRemoved() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Older.Page.class, forms -> forms.ignoreRemoved(Older.Circle.class, "radius")));
    assertEquals("field 'radius' of Circle exists, so it is not removed; leave out evolution.ignoreRemoved(..) for it",
        failure.getMessage());
    var foreign = assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Older.Page.class, forms -> forms.ignoreRemoved(Newer.Circle.class, "x")));
    assertTrue(foreign.getMessage().contains("has removed fields, but is no record in"), foreign::getMessage);
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Older.Page.class, forms -> forms.ignoreRemoved(Older.Circle.class, " ")));
  }

  @Test
  void customCodecReportsNoUnknownFieldsByDefault() {
    var codec = new Codec<String>() {
      @Override
      public byte[] encode(String value) {
        return new byte[0];
      }

      @Override
      public String decode(byte[] bytes) {
        return "decoded";
      }
    };

    assertEquals("decoded", codec.decode(new byte[0], field -> {
      throw new AssertionError(field);
    }));
  }

  record Leaf(long size) {}
  record Twig(List<Leaf> leaves) {}
  record Branch(Map<String, Twig> twigs, Optional<Branch> next) {}
  record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}

  @Test
  void codecSamplesIncludeDeeplyNestedTypes() {
    var samples = Codec.of(Tree.class).samples();

    assertTrue(samples.values().stream().anyMatch(bytes -> new String(bytes).contains("size")), samples::toString);
    assertTrue(samples.values().stream().allMatch(bytes -> bytes.length < 1 << 18), samples::toString);
  }
}
