@labels@@release@
