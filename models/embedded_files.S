/* The catalogue files as bytes of the program: one file to copy, no data directory to find. */
.macro embed name, file
  .global slicewise_catalog_\name\()_begin
  .global slicewise_catalog_\name\()_end
slicewise_catalog_\name\()_begin:
  .incbin "\file"
slicewise_catalog_\name\()_end:
  .byte 0
.endm

  .section .rodata
  embed instances, "instances.json"
  embed interconnects, "interconnects.json"
  embed prices, "prices.json"
  embed spot, "spot.json"
  embed commitments, "commitments.json"
  embed gpus, "gpus.json"
  embed mig, "mig.json"
  embed profiles, "profiles.json"
  embed llm_models, "llm_models.json"

  .section .note.GNU-stack, "", %progbits
