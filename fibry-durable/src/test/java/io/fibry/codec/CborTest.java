package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the examples of RFC 8949, appendix A, as far as the codec uses their encodings. */
class CborTest {
  private static <T> void assertEncoding(Class<T> type, T value, String hex) {
    var codec = Codec.of(type);

    assertEquals(hex, HexFormat.of().formatHex(codec.encode(value)));
    assertEquals(value, codec.decode(HexFormat.of().parseHex(hex)));
  }

  @ParameterizedTest
  @CsvSource({"0, 00", "1, 01", "10, 0a", "23, 17", "24, 1818", "25, 1819", "100, 1864", "1000, 1903e8",
    "1000000, 1a000f4240", "1000000000000, 1b000000e8d4a51000", "-1, 20", "-10, 29", "-100, 3863", "-1000, 3903e7",
    "9223372036854775807, 1b7fffffffffffffff", "-9223372036854775808, 3b7fffffffffffffff"})
  void integersAreEncodedAsInRfc8949(long value, String hex) {
    assertEncoding(Long.class, value, hex);
  }

  @ParameterizedTest
  @CsvSource({"1.1, fb3ff199999999999a", "1.0E300, fb7e37e43c8800759c", "-4.1, fbc010666666666666",
    "Infinity, fb7ff0000000000000", "NaN, fb7ff8000000000000", "-Infinity, fbfff0000000000000"})
  void doublesAreEncodedAsInRfc8949(double value, String hex) {
    assertEncoding(Double.class, value, hex);
  }

  @ParameterizedTest
  @CsvSource({"100000.0, fa47c35000", "3.4028234663852886E38, fa7f7fffff"})
  void floatsAreEncodedAsInRfc8949(float value, String hex) {
    assertEncoding(Float.class, value, hex);
  }

  @Test
  void booleansAndTextsAreEncodedAsInRfc8949() {
    assertEncoding(Boolean.class, false, "f4");
    assertEncoding(Boolean.class, true, "f5");
    assertEncoding(String.class, "", "60");
    assertEncoding(String.class, "IETF", "6449455446");
    assertEncoding(String.class, "\"\\", "62225c");
    assertEncoding(String.class, "\u00fc", "62c3bc");
    assertEncoding(String.class, "\u6c34", "63e6b0b4");
    assertEncoding(String.class, "\ud800\udd51", "64f0908591");
  }

  @ParameterizedTest
  @CsvSource({"61ff", "62c328", "62ffff", "63e6b0ff", "6341ff42", "61c3", "63eda080"})
  void malformedUtf8IsRefused(String hex) {
    var codec = Codec.of(String.class);

    var refusal = assertThrows(CodecException.class, () -> codec.decode(HexFormat.of().parseHex(hex)));
    assertTrue(refusal.getMessage().contains("the text is not UTF-8"), refusal::getMessage);
  }

  @Test
  void replacementCharacterIsNoFault() {
    assertEncoding(String.class, "\ufffd", "63efbfbd");
  }

  @Test
  void bigDecimalsAndBigIntegersFollowRfc8949() {
    assertEncoding(BigDecimal.class, new BigDecimal("273.15"), "c48221c2426ab3");
    var big = new BigInteger("18446744073709551616");
    assertEquals(big, Codec.of(BigInteger.class).decode(HexFormat.of().parseHex("c249010000000000000000")));
    assertEquals(big.negate().subtract(BigInteger.ONE),
        Codec.of(BigInteger.class).decode(HexFormat.of().parseHex("c349010000000000000000")));
  }

  @ParameterizedTest
  @CsvSource({"'', the bytes end too early", "1b8000000000000000, more than 64 bits", "1c, reserved",
    "9f0102ff, an array instead of an integer", "0000, 1 bytes are left over", "6161, text instead of an integer"})
  void invalidBytesAreRefused(String hex, String text) {
    var failure = assertThrows(CodecException.class, () -> Codec.of(Long.class).decode(HexFormat.of().parseHex(hex)));

    assertEquals(true, failure.getMessage().contains(text), failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"c4823b7fffffffffffffff00, -9223372036854775808", "c4823a7fffffff00, -2147483648",
    "c4821a8000000000, 2147483648"})
  void decimalWithExponentBeyondIntIsRefused(String hex, String exponent) {
    var failure =
        assertThrows(CodecException.class, () -> Codec.of(BigDecimal.class).decode(HexFormat.of().parseHex(hex)));

    assertEquals(true, failure.getMessage().contains("a decimal with an exponent of " + exponent),
        failure.getMessage());
  }
}
